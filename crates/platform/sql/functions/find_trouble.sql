-- What is wrong with the platform itself, in one workspace or, given null, in all; see ops.check_alerts.
--   failed_jobs        jobs that failed for good, by type; counting stops at 1000
--   bot_without_token  what a bot has to say waits, because its token is missing or refused; the subject is its name
--   database_fills     the database is larger than the setting `ops.database_bytes_max` of this transaction
--   disk_fills         less is free beside the database, `ops.disk_free_bytes`, than `ops.disk_free_bytes_min`
create or replace function ops.find_trouble(p_workspace_id uuid) returns setof ops.findings language sql stable as $$
    -- From one pair to the next by the index, however many jobs each of them has.
    with recursive pairs as (
        (select j.workspace_id, j.job_type from ops.jobs j
          where j.next_run_at = 'infinity' and (p_workspace_id is null or j.workspace_id = p_workspace_id)
          order by j.workspace_id, j.job_type limit 1)
        union all
        select n.workspace_id, n.job_type
          from pairs p
         cross join lateral (
               select j.workspace_id, j.job_type from ops.jobs j
                where j.next_run_at = 'infinity' and (j.workspace_id, j.job_type) > (p.workspace_id, p.job_type)
                  and (p_workspace_id is null or j.workspace_id = p_workspace_id)
                order by j.workspace_id, j.job_type limit 1) n
    )
    select p.workspace_id, 'failed_jobs', p.job_type, count(*),
           (array_agg(j.last_error->>'code' order by j.id desc))[1], min(j.created_at),
           (array_agg(j.last_error->>'message' order by j.id desc))[1], null::interval
      from pairs p
     cross join lateral (select f.id, f.created_at, f.last_error from ops.jobs f
                          where f.next_run_at = 'infinity' and f.workspace_id = p.workspace_id
                            and f.job_type = p.job_type and f.status = 'failed' limit 1000) j
     group by p.workspace_id, p.job_type
    union all
    select b.workspace_id, 'bot_without_token', b.name, 1, b.serves, min(e.since), max(e.error->>'message'), null
      from ops.bot_errors(p_workspace_id) e
      join core.bots b on b.workspace_id = e.workspace_id and b.bot_id = e.bot_id and b.enabled
      join core.workspaces w on w.workspace_id = b.workspace_id and w.status = 'active'
     where platform.error_kind(e.error) = 'unauthorized'
     group by b.workspace_id, b.bot_id
    union all
    select s.id, 'database_fills', '', 1, pg_size_pretty(s.size), null,
           format('the database holds %s, more than %s', pg_size_pretty(s.size), pg_size_pretty(s.size_max)),
           interval '1 day'
      from (select '00000000-0000-0000-0000-000000000000'::uuid as id, pg_database_size(current_database()) as size,
                   nullif(current_setting('ops.database_bytes_max', true), '')::bigint as size_max) s
     where s.size > s.size_max and (p_workspace_id is null or p_workspace_id = s.id)
    union all
    select s.id, 'disk_fills', '', 1, pg_size_pretty(s.free), null,
           format('%s are free beside the database, less than %s', pg_size_pretty(s.free), pg_size_pretty(s.free_min)),
           null
      from (select '00000000-0000-0000-0000-000000000000'::uuid as id,
                   nullif(current_setting('ops.disk_free_bytes', true), '')::bigint as free,
                   nullif(current_setting('ops.disk_free_bytes_min', true), '')::bigint as free_min) s
     where s.free < s.free_min and (p_workspace_id is null or p_workspace_id = s.id)
$$;
