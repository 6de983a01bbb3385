-- handle_message as a webhook calls it: one statement, which is the whole transaction, and in it the ordinary role that
-- sees this workspace only.
create or replace function shopbot.take_message(
    p_workspace_id uuid, p_provider text, p_message jsonb, p_trace_id text, p_bot_id uuid default null
) returns jsonb language plpgsql as $$
begin
    perform set_config('role', 'beresta_app', true), set_config('platform.workspace_id', p_workspace_id::text, true);
    return shopbot.handle_message(p_workspace_id, p_provider, p_message, p_trace_id, null, p_bot_id);
end
$$;
