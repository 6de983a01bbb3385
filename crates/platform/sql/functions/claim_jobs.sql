-- Leases due jobs to one worker: up to p_limits[i] of type p_job_types[i].
-- Guarantees: a job has at most one live lease; the attempt counts from the moment it is picked, so a job that
-- kills its worker uses up its attempts and ends as failed instead of looping; a lease that ran out is taken
-- over by the next claim, without a sweeper.
--
-- Claimers of one type take turns under an advisory lock instead of locking rows: claims are few and large,
-- and a row lock would cost one more WAL record for each job.
create or replace function ops.claim_jobs(p_worker_id text, p_job_types text[], p_limits int[])
returns table (
    workspace_id uuid, id bigint, job_type text, payload jsonb, trace_id text, attempt int, forgiven int, lease_id uuid,
    created_at timestamptz
) language plpgsql as $$
declare
    new_lease_id uuid := gen_random_uuid();
    wanted record;
begin
    for wanted in select t from unnest(p_job_types) t order by t loop
        perform pg_advisory_xact_lock(hashtext('ops.claim_jobs'), hashtext(wanted.t));
    end loop;

    perform ops.expire_leases(p_job_types);

    return query
        update ops.jobs j
           set status = 'running', attempts = j.attempts + 1, lease_id = new_lease_id, worker_id = p_worker_id,
               started_at = platform.now(), leased_until = platform.now() + due.lease_ms * interval '1 millisecond'
          from (select d.workspace_id, d.id, k.lease_ms
                  from unnest(p_job_types, p_limits) w (job_type, limit_max)
                  join ops.job_types k on k.job_type = w.job_type
                 cross join lateral (
                       select q.workspace_id, q.id from ops.jobs q
                        where q.job_type = w.job_type and q.next_run_at <= platform.now() and q.lease_id is null
                        order by q.next_run_at, q.id limit w.limit_max) d) due
         where j.workspace_id = due.workspace_id and j.id = due.id and j.lease_id is null
        returning j.workspace_id, j.id, j.job_type, j.payload, j.trace_id, j.attempts, j.forgiven, j.lease_id, j.created_at;
end
$$;
