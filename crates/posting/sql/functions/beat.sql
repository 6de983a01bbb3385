-- A dispatcher says that it is alive; those silent for an hour are forgotten.
create or replace function posting.beat(p_name text) returns void language sql as $$
    delete from posting.dispatchers where seen_at < platform.now() - interval '1 hour';
    insert into posting.dispatchers (name, seen_at) values (p_name, platform.now())
    on conflict (name) do update set seen_at = excluded.seen_at
$$;
