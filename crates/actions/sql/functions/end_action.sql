-- Ends an action, which the caller has locked and found processing. Null keeps the text and the payload that there are;
-- only an error never keeps the text, because that says what was being done and would be shown as what went wrong.
-- Returns {outcome, action}.
create or replace function actions.end_action(
    p_action actions.actions, p_status text, p_display_text text, p_payload jsonb, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    action actions.actions;
begin
    update actions.actions a
       set status = p_status, payload = coalesce(p_payload, a.payload),
           display_text = case when p_status = 'error' then p_display_text
               else coalesce(p_display_text, a.display_text) end,
           updated_at = greatest(platform.now(), a.updated_at + interval '1 microsecond'), ended_at = platform.now()
     where a.workspace_id = p_action.workspace_id and a.action_id = p_action.action_id
    returning * into action;
    perform actions.tell_action(action, 'action_' || p_status, p_trace_id);
    return jsonb_build_object('outcome', 'changed', 'action', actions.bot_action(action));
end
$$;
