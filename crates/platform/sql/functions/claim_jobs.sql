-- Leases due jobs to one worker: up to p_limits[i] of type p_job_types[i], in the order of their time.
-- Guarantees: a job has at most one live lease; the attempt counts from the moment it is picked.
--
-- Claimers of one type take turns under an advisory lock instead of locking rows: claims are few and large,
-- and a row lock would cost one more WAL record for each job.
--
-- The rows are updated by their place in the table: a join would read the whole backlog for each claim. Nobody but
-- a claim moves a queued row, so the place holds while the lock does.
--
-- Jobs that are done leave their entries in the index until vacuum comes. So a worker says how far it has come
-- (p_after_times, p_after_ids: the last job it was given of each type), and the scan starts there instead of
-- stepping over what is gone; now and then it starts from the beginning, for jobs that were given back.
create or replace function ops.claim_jobs(
    p_worker_id text, p_job_types text[], p_limits int[], p_after_times timestamptz[], p_after_ids bigint[]
) returns table (
    workspace_id uuid, id bigint, job_type text, payload jsonb, trace_id text, attempt int, forgiven int, lease_id uuid,
    created_at timestamptz, next_run_at timestamptz
) language plpgsql as $$
declare
    new_lease_id uuid := gen_random_uuid();
    now_ts timestamptz := platform.now();
    wanted record;
begin
    for wanted in
        select w.job_type, w.limit_max, w.after_time, w.after_id, k.lease_ms * interval '1 millisecond' as lease
          from unnest(p_job_types, p_limits, p_after_times, p_after_ids) w (job_type, limit_max, after_time, after_id)
          join ops.job_types k on k.job_type = w.job_type
         order by w.job_type
    loop
        perform pg_advisory_xact_lock(hashtext('ops.claim_jobs'), hashtext(wanted.job_type));
        return query
            with claimed as (
                update ops.jobs j
                   set status = 'running', attempts = j.attempts + 1, lease_id = new_lease_id, worker_id = p_worker_id,
                       started_at = now_ts, leased_until = now_ts + wanted.lease
                 where j.ctid = any (array(
                           select q.ctid from ops.jobs q
                            where q.job_type = wanted.job_type
                              and (q.next_run_at, q.id) > (wanted.after_time, wanted.after_id)
                              and q.next_run_at <= now_ts and q.lease_id is null
                            order by q.next_run_at, q.id limit wanted.limit_max))
                   and j.lease_id is null
                returning j.workspace_id, j.id, j.job_type, j.payload, j.trace_id, j.attempts, j.forgiven, j.lease_id,
                          j.created_at, j.next_run_at
            ), told as materialized (
                select ops.tell_jobs(array_agg(distinct c.workspace_id)) from claimed c
            )
            select c.* from claimed c, told;
    end loop;
end
$$;
