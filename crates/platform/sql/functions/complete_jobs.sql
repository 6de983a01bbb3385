-- Ends jobs that succeeded: they leave ops.jobs for ops.job_runs in one statement.
-- Guarantee: only the lease that runs a job can end it. Returns the jobs that were ended; a job that is
-- missing from the answer had lost its lease, and another worker has it or had it.
create or replace function ops.complete_jobs(p_workspace_ids uuid[], p_ids bigint[], p_lease_ids uuid[])
returns setof bigint language sql
-- By the key of each job, whatever the size of the backlog makes the planner think.
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    select ops.tell_jobs(p_workspace_ids);
    with gone as (
        delete from ops.jobs j
         using unnest(p_workspace_ids, p_ids, p_lease_ids) as d (workspace_id, id, lease_id)
         where j.workspace_id = d.workspace_id and j.id = d.id and j.lease_id = d.lease_id
        returning j.workspace_id, j.id, j.attempts, j.job_type, j.worker_id, j.trace_id, j.started_at
    ), runs as (
        insert into ops.job_runs
            (workspace_id, job_id, attempt, ts, job_type, outcome, worker_id, trace_id, started_at)
        select g.workspace_id, g.id, g.attempts, (select platform.now()), g.job_type, 'succeeded',
               g.worker_id, g.trace_id, g.started_at
          from gone g
    )
    select id from gone
$$;
