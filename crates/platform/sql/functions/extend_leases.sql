-- The heartbeat of long jobs. Returns the jobs whose lease still holds; the others are lost.
create or replace function ops.extend_leases(p_workspace_ids uuid[], p_ids bigint[], p_lease_ids uuid[])
returns setof bigint
language sql
-- By the key of each job, whatever the size of the backlog makes the planner think.
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    update ops.jobs j
       set leased_until = platform.now() + k.lease_ms * interval '1 millisecond'
      from unnest(p_workspace_ids, p_ids, p_lease_ids) as d (workspace_id, id, lease_id), ops.job_types k
     where j.workspace_id = d.workspace_id and j.id = d.id and j.lease_id = d.lease_id and k.job_type = j.job_type
    returning j.id
$$;
