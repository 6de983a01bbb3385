-- Adds jobs in the caller's transaction: they exist exactly if it commits.
-- A job whose dedup key is live already is not added again; its id comes back all the same.
-- Arrays are of one length; null elements of the last two mean "now" and "no key".
-- Raises ZP004 for a type that no module registered, ZP005 for an unknown workspace.
create or replace function ops.enqueue_jobs(
    p_workspace_id uuid, p_job_types text[], p_payloads jsonb[], p_next_run_at timestamptz[], p_dedup_keys text[],
    p_trace_id text
) returns setof bigint language plpgsql as $$
declare
    unknown_type text;
begin
    select t into unknown_type from (select distinct unnest(p_job_types) as t) given
     where not exists (select from ops.job_types k where k.job_type = given.t) limit 1;
    if unknown_type is not null then
        raise exception 'no module registered the job type %', unknown_type
            using errcode = 'ZP004', hint = (select 'known types: ' || string_agg(job_type, ', ' order by job_type) from ops.job_types);
    end if;
    if not exists (select from core.workspaces where workspace_id = p_workspace_id) then
        raise exception 'there is no workspace %', p_workspace_id using errcode = 'ZP005';
    end if;

    -- Only a call with dedup keys pays for looking up what was there before.
    if array_position(p_dedup_keys, null) is null and cardinality(p_dedup_keys) > 0 or
       exists (select from unnest(p_dedup_keys) k where k is not null) then
        return query
            with given as (
                select * from unnest(p_job_types, p_payloads, p_next_run_at, p_dedup_keys)
                    with ordinality as g (job_type, payload, next_run_at, dedup_key, n)
            ), added as (
                insert into ops.jobs (workspace_id, job_type, payload, next_run_at, dedup_key, trace_id)
                select p_workspace_id, g.job_type, g.payload, coalesce(g.next_run_at, platform.now()), g.dedup_key, p_trace_id
                  from given g order by g.n
                on conflict (workspace_id, job_type, dedup_key) where dedup_key is not null do nothing
                returning id, job_type, dedup_key
            )
            select added.id from added
            union all
            select j.id from given g join ops.jobs j
                on j.workspace_id = p_workspace_id and j.job_type = g.job_type and j.dedup_key = g.dedup_key;
    else
        return query
            insert into ops.jobs (workspace_id, job_type, payload, next_run_at, trace_id)
            select p_workspace_id, g.job_type, g.payload, coalesce(g.next_run_at, platform.now()), p_trace_id
              from unnest(p_job_types, p_payloads, p_next_run_at) as g (job_type, payload, next_run_at)
            returning id;
    end if;
end
$$;
