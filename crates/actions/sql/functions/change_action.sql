-- Gives an action, which the caller has locked, another text or payload; null keeps what there is. Compared by content:
-- what changes nothing is neither journaled nor published. With `p_is_repeat`, `updated_at` moves even then.
-- Returns {outcome, action}.
create or replace function actions.change_action(
    p_action actions.actions, p_display_text text, p_payload jsonb, p_is_repeat boolean, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    action actions.actions := p_action;
    is_changed constant boolean := coalesce(p_display_text,
                                            p_action.display_text) is distinct from p_action.display_text
                                or coalesce(p_payload, p_action.payload) is distinct from p_action.payload;
begin
    if is_changed or p_is_repeat then
        update actions.actions a
           set display_text = coalesce(p_display_text, a.display_text), payload = coalesce(p_payload, a.payload),
               updated_at = greatest(platform.now(), a.updated_at + interval '1 microsecond')
         where a.workspace_id = p_action.workspace_id and a.action_id = p_action.action_id
        returning * into action;
    end if;
    if is_changed then
        perform actions.tell_action(action, 'action_changed', p_trace_id);
    end if;
    return jsonb_build_object('outcome', case when is_changed then 'changed' else 'unchanged' end,
                              'action', actions.bot_action(action));
end
$$;
