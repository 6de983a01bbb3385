-- One job, for callers in SQL.
create or replace function ops.enqueue_job(
    p_workspace_id uuid, p_job_type text, p_payload jsonb, p_next_run_at timestamptz default null,
    p_dedup_key text default null, p_trace_id text default null
) returns bigint language sql as $$
    select ops.enqueue_jobs(p_workspace_id, array[p_job_type], array[p_payload], array[p_next_run_at],
                            array[p_dedup_key], p_trace_id)
$$;
