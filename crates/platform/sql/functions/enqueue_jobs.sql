-- Adds jobs in the caller's transaction: they exist exactly if it commits.
-- A job whose dedup key is live already is not added again, and its id comes back all the same; one that has failed
-- is asked for again with what it is told now.
-- Arrays are of one length; null elements of the last two mean "now" and "no key".
-- Raises ZP004 for a type that no module registered, ZP005 for an unknown workspace.
create or replace function ops.enqueue_jobs(
    p_workspace_id uuid, p_job_types text[], p_payloads jsonb[], p_next_run_at timestamptz[], p_dedup_keys text[],
    p_trace_id text
) returns setof bigint language plpgsql as $$
declare
    unknown_type text;
    given record;
    job_id bigint;
begin
    select t into unknown_type from (select distinct unnest(p_job_types) as t) asked
     where not exists (select from ops.job_types k where k.job_type = asked.t) limit 1;
    if unknown_type is not null then
        raise exception 'no module registered the job type %', unknown_type
            using errcode = 'ZP004',
                  hint = (select 'known types: ' || string_agg(job_type, ', ' order by job_type) from ops.job_types);
    end if;
    if not exists (select from core.workspaces where workspace_id = p_workspace_id) then
        raise exception 'there is no workspace %', p_workspace_id using errcode = 'ZP005';
    end if;

    perform ops.tell_jobs(array[p_workspace_id]);
    if not exists (select from unnest(p_dedup_keys) k where k is not null) then
        return query
            insert into ops.jobs (workspace_id, job_type, payload, next_run_at, trace_id)
            select p_workspace_id, g.job_type, g.payload, coalesce(g.next_run_at, platform.now()), p_trace_id
              from unnest(p_job_types, p_payloads, p_next_run_at) as g (job_type, payload, next_run_at)
            returning id;
        return;
    end if;

    -- With keys one by one, because each may meet a job that another transaction is adding or ending right now.
    for given in
        select * from unnest(p_job_types, p_payloads, p_next_run_at, p_dedup_keys)
            as g (job_type, payload, next_run_at, dedup_key)
    loop
        loop
            insert into ops.jobs as j (workspace_id, job_type, payload, next_run_at, dedup_key, trace_id)
            values (p_workspace_id, given.job_type, given.payload, coalesce(given.next_run_at, platform.now()),
                    given.dedup_key, p_trace_id)
            on conflict (workspace_id, job_type, dedup_key) where dedup_key is not null do update
               set status = 'queued', forgiven = j.attempts, payload = excluded.payload,
                   next_run_at = excluded.next_run_at, trace_id = excluded.trace_id
             where j.status = 'failed'
            returning j.id into job_id;
            if job_id is null then
                select j.id into job_id from ops.jobs j
                 where j.workspace_id = p_workspace_id and j.job_type = given.job_type
                   and j.dedup_key = given.dedup_key;
            end if;
            exit when job_id is not null;
        end loop;
        return next job_id;
    end loop;
end
$$;
