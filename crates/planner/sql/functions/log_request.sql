-- Records a call before anything is done about it, and publishes it. The caller has redacted and bounded the body.
create or replace function planner.log_request(
    p_workspace_id uuid, p_request_id uuid, p_person_id bigint, p_token_id uuid, p_tool_name text, p_request_body jsonb
) returns void language sql as $$
    insert into planner.mcp_requests (workspace_id, request_id, person_id, token_id, tool_name, request_body)
    values (p_workspace_id, p_request_id, p_person_id, p_token_id, p_tool_name, p_request_body);
    select bus.publish(p_workspace_id, 'planner', jsonb_build_object('type', 'called', 'request_id', p_request_id))
$$;
