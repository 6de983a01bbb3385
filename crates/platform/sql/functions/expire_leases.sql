-- Takes jobs back from workers that went silent: queued again at once, or failed when their attempts are used up,
-- so that a job that kills its worker ends instead of looping. Each lost attempt is recorded. Returns how many.
--
-- Running jobs are the oldest due ones, so only the front of the index is looked at, however long the backlog is.
create or replace function ops.expire_leases(p_job_types text[]) returns int language plpgsql as $$
declare
    expired int;
    workspaces uuid[];
begin
    with running as (
        select f.workspace_id, f.id
          from unnest(p_job_types) t
         cross join lateral (
               select j.workspace_id, j.id, j.lease_id, j.leased_until from ops.jobs j
                where j.job_type = t and j.next_run_at <= platform.now()
                order by j.next_run_at, j.id limit 20000) f
         where f.lease_id is not null and f.leased_until <= platform.now()
    ), lost as (
        select j.workspace_id, j.id, j.attempts - j.forgiven >= k.attempts_max as is_over, j.worker_id, j.started_at
          from running r join ops.jobs j using (workspace_id, id) join ops.job_types k using (job_type)
         where j.lease_id is not null and j.leased_until <= platform.now()
         order by j.workspace_id, j.id
           for update of j skip locked
    ), taken as (
        update ops.jobs j
           set status = case when lost.is_over then 'failed' else 'queued' end,
               next_run_at = case when lost.is_over then 'infinity' else j.next_run_at end,
               lease_id = null, leased_until = null, worker_id = null, started_at = null,
               last_error = jsonb_build_object('code', 'lease_expired',
                   'message', format('worker %s did not finish within its lease', lost.worker_id))
          from lost
         where j.workspace_id = lost.workspace_id and j.id = lost.id
        returning j.workspace_id, j.id, j.attempts, j.job_type, j.trace_id, j.last_error, lost.is_over,
                  lost.worker_id, lost.started_at
    ), runs as (
        insert into ops.job_runs
            (workspace_id, job_id, attempt, job_type, outcome, worker_id, trace_id, started_at, error)
        select t.workspace_id, t.id, t.attempts, t.job_type, 'lease_expired', t.worker_id, t.trace_id, t.started_at,
               t.last_error
          from taken t
    ), journaled as (
        insert into ops.journal (workspace_id, source, action, subject, trace_id, data)
        select t.workspace_id, 'jobs', case when t.is_over then 'job_failed' else 'job_lease_expired' end, t.id::text,
               t.trace_id, jsonb_build_object('job_type', t.job_type, 'attempt', t.attempts, 'worker_id', t.worker_id)
          from taken t
    )
    select count(*), array_agg(t.workspace_id) into expired, workspaces from taken t;
    perform ops.tell_jobs(workspaces);
    return expired;
end
$$;
