-- A button under an answer was pressed: whether it was useful. The last press counts. Returns whether there is such an
-- answer in this chat.
create or replace function knowledge.record_press(
    p_workspace_id uuid, p_chat_id bigint, p_user_id bigint, p_turn_id bigint, p_is_useful boolean
) returns boolean language plpgsql as $$
begin
    update audit.qa_turns t set is_useful = p_is_useful, pressed_by = p_user_id
     where (t.workspace_id, t.id, t.chat_id) = (p_workspace_id, p_turn_id, p_chat_id) and t.status <> 'asked'
       and exists (select from core.tenant_users u
                    where (u.workspace_id, u.tg_user_id) = (p_workspace_id, p_user_id) and u.role <> 'blocked');
    if not found then
        return false;
    end if;
    perform bus.publish(p_workspace_id, 'knowledge', jsonb_build_object('type', 'turn', 'id', p_turn_id));
    return true;
end
$$;
