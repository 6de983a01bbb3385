-- Events have no foreign keys, so that writing them stays cheap; this looks for those of the last day whose delivery,
-- message or channel does not exist, and leaves their number for posting.find_trouble. Returns how many there are.
create or replace function posting.find_orphan_events() returns bigint language sql as $$
    with orphans as materialized (
        select e.workspace_id, count(*) as n from posting.events e
         where e.ts > platform.now() - interval '1 day'
           and ((e.delivery_id is not null
                 and not exists (select from posting.deliveries d
                                  where d.workspace_id = e.workspace_id and d.delivery_id = e.delivery_id))
                or (e.message_id is not null
                    and not exists (select from posting.messages m
                                     where m.workspace_id = e.workspace_id and m.message_id = e.message_id))
                or (e.channel_id is not null
                    and not exists (select from posting.channels c
                                     where c.workspace_id = e.workspace_id and c.channel_id = e.channel_id)))
         group by e.workspace_id
    ), over as (
        delete from posting.audits a where a.workspace_id not in (select o.workspace_id from orphans o)
    ), found as (
        insert into posting.audits as a (workspace_id, orphan_events, audited_at)
        select o.workspace_id, o.n, platform.now() from orphans o
        on conflict (workspace_id) do update
           set orphan_events = excluded.orphan_events, audited_at = excluded.audited_at
    )
    select coalesce(sum(o.n), 0)::bigint from orphans o
$$;
