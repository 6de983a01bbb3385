-- A process says that it lives and what it does; those that have been silent for ten minutes are forgotten.
create or replace function ops.report_process(p_process_id uuid, p_roles text[], p_place text, p_version text) returns void
language sql as $$
    delete from ops.processes where seen_at < platform.now() - interval '10 minutes';
    insert into ops.processes (process_id, roles, place, version, started_at, seen_at)
    values (p_process_id, p_roles, p_place, p_version, platform.now(), platform.now())
    on conflict (process_id) do update set seen_at = excluded.seen_at
$$;
