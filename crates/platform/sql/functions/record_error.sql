-- WF99's record of an error, best effort: outside the transaction that failed. Published on the topic of its source.
-- The caller has redacted it.
create or replace function ops.record_error(
    p_workspace_id uuid, p_source text, p_node text, p_op text, p_job_id bigint, p_trace_id text,
    p_status_code int, p_message text, p_retryable boolean, p_error jsonb
) returns void language sql as $$
    insert into ops.errors
        (workspace_id, source, node, op, job_id, trace_id, status_code, message, retryable, error)
    values
        (p_workspace_id, p_source, p_node, p_op, p_job_id, p_trace_id, p_status_code, p_message, p_retryable, p_error);
    select bus.publish(p_workspace_id, p_source, jsonb_build_object('type', 'error'))
$$;
