-- Ends attempts that did not succeed. p_retry_in_ms[i] says when to try again; null means never: the job is
-- kept as failed, with its reason, until somebody asks for it again (ops.retry_job).
-- Guarantee: only the lease that runs a job can end its attempt; the attempts of its type still bound it.
-- Returns the jobs whose attempt was ended and whether they are over.
create or replace function ops.fail_jobs(
    p_workspace_ids uuid[], p_ids bigint[], p_lease_ids uuid[], p_errors jsonb[], p_retry_in_ms bigint[]
) returns table (id bigint, is_over boolean) language sql
-- By the key of each job, whatever the size of the backlog makes the planner think.
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    select ops.tell_jobs(p_workspace_ids);
    with given as (
        select * from unnest(p_workspace_ids, p_ids, p_lease_ids, p_errors, p_retry_in_ms)
            as g (workspace_id, id, lease_id, error, retry_in_ms)
    ), judged as (
        select j.workspace_id, j.id, j.lease_id, g.error, g.retry_in_ms, j.worker_id, j.started_at,
               g.retry_in_ms is null or j.attempts - j.forgiven >= k.attempts_max as is_over
          from given g join ops.jobs j using (workspace_id, id) join ops.job_types k using (job_type)
         where j.lease_id = g.lease_id
    ), ended as (
        update ops.jobs j
           set status = case when x.is_over then 'failed' else 'queued' end,
               next_run_at = case when x.is_over then 'infinity'
                                  else platform.now() + x.retry_in_ms * interval '1 millisecond' end,
               lease_id = null, leased_until = null, worker_id = null, started_at = null, last_error = x.error
          from judged x
         where j.workspace_id = x.workspace_id and j.id = x.id and j.lease_id = x.lease_id
        returning j.workspace_id, j.id, j.attempts, j.job_type, j.trace_id, x.error, x.is_over, x.worker_id,
                  x.started_at
    ), runs as (
        insert into ops.job_runs
            (workspace_id, job_id, attempt, job_type, outcome, worker_id, trace_id, started_at, error)
        select e.workspace_id, e.id, e.attempts, e.job_type, case when e.is_over then 'failed' else 'retried' end,
               e.worker_id, e.trace_id, e.started_at, e.error
          from ended e
    ), errors as (
        insert into ops.errors (workspace_id, source, op, job_id, trace_id, message, retryable, error)
        select e.workspace_id, 'jobs', e.job_type, e.id, e.trace_id, coalesce(e.error->>'message', 'failed'),
               not e.is_over, e.error
          from ended e
    ), journal as (
        insert into ops.journal (workspace_id, source, action, subject, trace_id, data)
        select e.workspace_id, 'jobs', 'job_failed', e.id::text, e.trace_id,
               jsonb_build_object('job_type', e.job_type, 'attempt', e.attempts, 'error', e.error)
          from ended e where e.is_over
    )
    select e.id, e.is_over from ended e
$$;
