-- Events have no foreign keys, so that writing them stays cheap; this looks for those of the last day whose delivery, message or
-- channel does not exist, and leaves the number for the alerts. Returns how many there are.
create or replace function posting.find_orphan_events() returns bigint language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    team record;
    total bigint := 0;
begin
    for team in
        select e.workspace_id, count(*) as n from posting.events e
         where e.ts > now_ts - interval '1 day'
           and ((e.delivery_id is not null and not exists (select from posting.deliveries d where d.workspace_id = e.workspace_id and d.delivery_id = e.delivery_id))
                or (e.message_id is not null and not exists (select from posting.messages m where m.workspace_id = e.workspace_id and m.message_id = e.message_id))
                or (e.channel_id is not null and not exists (select from posting.channels c where c.workspace_id = e.workspace_id and c.channel_id = e.channel_id)))
         group by e.workspace_id
    loop
        insert into posting.alerts as a (workspace_id, alert, raised_at, details) values (team.workspace_id, 'orphan_events', now_ts, jsonb_build_object('orphans', team.n))
        on conflict (workspace_id, alert) do update set details = a.details || excluded.details, cleared_at = null;
        total := total + team.n;
    end loop;
    update posting.alerts a set cleared_at = now_ts, details = '{}'
     where a.alert = 'orphan_events' and a.cleared_at is null and total = 0;
    return total;
end
$$;
