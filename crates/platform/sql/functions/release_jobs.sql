-- Gives back jobs that were claimed but not started, at a graceful stop. A release costs no attempt.
create or replace function ops.release_jobs(p_workspace_ids uuid[], p_ids bigint[], p_lease_ids uuid[])
returns setof bigint language sql
-- By the key of each job, whatever the size of the backlog makes the planner think.
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    select ops.tell_jobs(p_workspace_ids);
    update ops.jobs j
       set status = 'queued', attempts = j.attempts - 1, lease_id = null, leased_until = null, worker_id = null,
           started_at = null
      from unnest(p_workspace_ids, p_ids, p_lease_ids) as d (workspace_id, id, lease_id)
     where j.workspace_id = d.workspace_id and j.id = d.id and j.lease_id = d.lease_id
    returning j.id
$$;
