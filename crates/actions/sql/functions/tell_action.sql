-- Records a change of an action in the journal and publishes it on the topic of its chat, in the transaction that made
-- it. The journal gets what happened and not what was said: texts and payloads are the users' own. The row is not
-- written by ops.append_journal, which would publish a second message for the same change.
create or replace function actions.tell_action(p_action actions.actions, p_what text, p_trace_id text)
returns void language plpgsql as $$
begin
    insert into ops.journal (workspace_id, source, action, subject, trace_id, data)
    values (p_action.workspace_id, 'actions', p_what, p_action.action_id, p_trace_id, jsonb_build_object(
        'chat_id', p_action.chat_id, 'action_type', p_action.action_type, 'status', p_action.status));
    perform bus.publish(p_action.workspace_id, actions.topic(p_action.chat_id),
        jsonb_build_object('type', 'bot_action', 'action', actions.bot_action(p_action)));
end
$$;
