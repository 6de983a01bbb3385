-- Leases due jobs of one workspace to one worker, in the order of their time, with the guarantees of ops.claim_jobs:
-- for whoever runs the jobs of a workspace by hand, beside the runners.
create or replace function ops.claim_workspace_jobs(
    p_workspace_id uuid, p_worker_id text, p_job_types text[], p_limit int
) returns table (
    workspace_id uuid, id bigint, job_type text, payload jsonb, trace_id text, attempt int, forgiven int, lease_id uuid,
    created_at timestamptz, next_run_at timestamptz
) language plpgsql as $$
declare
    new_lease_id uuid := gen_random_uuid();
    now_ts timestamptz := platform.now();
begin
    -- The locks of ops.claim_jobs, in its order.
    perform pg_advisory_xact_lock(hashtext('ops.claim_jobs'), hashtext(t)) from unnest(p_job_types) t order by t;
    return query
        update ops.jobs j
           set status = 'running', attempts = j.attempts + 1, lease_id = new_lease_id, worker_id = p_worker_id,
               started_at = now_ts, leased_until = now_ts + k.lease_ms * interval '1 millisecond'
          from ops.job_types k
         where k.job_type = j.job_type and j.lease_id is null
           and (j.workspace_id, j.id) in (
               select q.workspace_id, q.id from ops.jobs q
                where q.workspace_id = p_workspace_id and q.job_type = any (p_job_types) and q.next_run_at <= now_ts
                  and q.lease_id is null
                order by q.next_run_at, q.id limit p_limit)
        returning j.workspace_id, j.id, j.job_type, j.payload, j.trace_id, j.attempts, j.forgiven, j.lease_id,
            j.created_at,
                  j.next_run_at;
    perform ops.tell_jobs(array[p_workspace_id]);
end
$$;
