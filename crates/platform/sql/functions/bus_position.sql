-- The position before which everything is visible: a reader that starts here misses nothing that commits later.
create or replace function bus.position() returns text language sql stable as $$
    select pg_snapshot_xmin(pg_current_snapshot())::text || '-0'
$$;
