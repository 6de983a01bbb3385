-- Ends a turn that will not be answered. One that has ended stays as it is.
create or replace function knowledge.give_up_turn(p_workspace_id uuid, p_turn_id bigint) returns void
language plpgsql as $$
begin
    update audit.qa_turns t
       set status = 'failed', answer_text = 'Ответить не получилось.', answered_at = platform.now()
     where (t.workspace_id, t.id, t.status) = (p_workspace_id, p_turn_id, 'asked');
    if found then
        perform ops.append_journal(p_workspace_id, 'knowledge', 'question_failed', p_turn_id::text);
        perform bus.publish(p_workspace_id, 'knowledge', jsonb_build_object('type', 'turn', 'id', p_turn_id));
    end if;
end
$$;
