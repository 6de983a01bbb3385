-- Takes jobs back from workers that went silent: queued again at once, or failed when their attempts are used up.
-- Each lost attempt is recorded. Called by every claim; few jobs run at a time, so the scan is short.
create or replace function ops.expire_leases(p_job_types text[]) returns void language plpgsql as $$
begin
    with lost as (
        select j.workspace_id, j.id, j.attempts - j.forgiven >= k.attempts_max as is_over, j.worker_id, j.started_at
          from ops.jobs j join ops.job_types k using (job_type)
         where j.job_type = any (p_job_types) and j.next_run_at <= platform.now()
           and j.lease_id is not null and j.leased_until <= platform.now()
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
        insert into ops.job_runs (workspace_id, job_id, attempt, job_type, outcome, worker_id, trace_id, started_at, error)
        select t.workspace_id, t.id, t.attempts, t.job_type, 'lease_expired', t.worker_id, t.trace_id, t.started_at, t.last_error
          from taken t
    )
    insert into ops.journal (workspace_id, source, action, subject, trace_id, data)
    select t.workspace_id, 'jobs', case when t.is_over then 'job_failed' else 'job_lease_expired' end, t.id::text, t.trace_id,
           jsonb_build_object('job_type', t.job_type, 'attempt', t.attempts, 'worker_id', t.worker_id)
      from taken t;
end
$$;
