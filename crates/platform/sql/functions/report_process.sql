-- A process says that it lives and what it does; those that have been silent for ten minutes are forgotten.
-- That a process came or went is published on the topic `processes` of the system workspace.
create or replace function ops.report_process(p_process_id uuid, p_roles text[], p_place text, p_version text)
returns void language sql as $$
    with gone as (
        delete from ops.processes where seen_at < platform.now() - interval '10 minutes' returning process_id
    ), reported as (
        insert into ops.processes (process_id, roles, place, version, started_at, seen_at)
        values (p_process_id, p_roles, p_place, p_version, platform.now(), platform.now())
        on conflict (process_id) do update set seen_at = excluded.seen_at
        returning started_at = seen_at as is_new
    )
    select bus.publish('00000000-0000-0000-0000-000000000000', 'processes', '{}')
      from (select 1 from gone union all select 1 from reported where is_new limit 1) changed
$$;
