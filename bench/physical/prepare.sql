-- The columns and the indexes of posting.deliveries and posting.events, and nothing else: no defaults, no checks, no foreign
-- keys, no triggers, no row security, no partitions.
create schema physical;
create table physical.deliveries (like posting.deliveries including generated including indexes);
create table physical.events (like posting.events including indexes);
-- Its room for updates too.
do $$
begin
    execute (select 'alter table physical.deliveries set (' || array_to_string(c.reloptions, ', ') || ')'
               from pg_class c where c.oid = 'posting.deliveries'::regclass and c.reloptions is not null);
end
$$;
