-- Records what was answered to a call, once, and publishes it: a caller that does not know whether the first try came
-- through may try again within the day. The caller has redacted and bounded the body.
create or replace function planner.log_response(
    p_workspace_id uuid, p_request_id uuid, p_response_body jsonb, p_execution_time_ms int, p_error_message text
) returns void language sql as $$
    insert into planner.mcp_responses (workspace_id, request_id, response_body, execution_time_ms, error_message)
    select p_workspace_id, p_request_id, p_response_body, p_execution_time_ms, p_error_message
     where not exists (select from planner.mcp_responses r
                        where r.workspace_id = p_workspace_id and r.request_id = p_request_id
                          and r.ts > platform.now() - interval '1 day');
    select bus.publish(p_workspace_id, 'planner', jsonb_build_object('type', 'answered', 'request_id', p_request_id))
$$;
