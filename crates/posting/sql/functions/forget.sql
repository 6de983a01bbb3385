-- Retention, in bounded batches: deliveries, messages that nothing refers to any more, receipts, runs and pull items
-- whose time is over. Events go by partition. What is still under way is never forgotten. Returns how many rows went;
-- call again while it is not zero.
create or replace function posting.forget(p_limit int default 1000) returns int language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    gone int := 0;
    count_of int;
    team record;
begin
    delete from posting.ingress_receipts r
     where r.ctid = any (array(select x.ctid from posting.ingress_receipts x where x.expires_at < now_ts
                               limit p_limit));
    get diagnostics count_of = row_count;
    gone := gone + count_of;
    for team in select w.workspace_id, p.deliveries_keep_days * interval '1 day' as keep
                  from core.workspaces w cross join lateral posting.policy(w.workspace_id) p
                 where exists (select from posting.channels c where c.workspace_id = w.workspace_id)
    loop
        -- Ids begin with their time, so the oldest are first in the key.
        delete from posting.deliveries d
         where d.ctid = any (array(
               select x.ctid from posting.deliveries x
                where x.workspace_id = team.workspace_id and x.delivery_id < platform.id_at(now_ts - team.keep)
                  and x.phase <> 'inflight'
                  and x.created_at < now_ts - team.keep
                  and not exists (select from posting.deliveries f where f.of_delivery_id = x.delivery_id
                                  and f.workspace_id = x.workspace_id and f.phase = 'inflight')
                order by x.delivery_id limit p_limit));
        get diagnostics count_of = row_count;
        gone := gone + count_of;
        delete from posting.messages m
         where m.ctid = any (array(
               select x.ctid from posting.messages x
                where x.workspace_id = team.workspace_id and x.message_id < platform.id_at(now_ts - team.keep)
                  and x.created_at < now_ts - team.keep and x.last_seen_at < now_ts - team.keep
                  and not exists (select from posting.deliveries d where d.message_id = x.message_id
                                  and d.workspace_id = x.workspace_id)
                  and not exists (select from posting.messages f where f.workspace_id = x.workspace_id
                                  and f.of_message_id = x.message_id)
                order by x.message_id limit p_limit));
        get diagnostics count_of = row_count;
        gone := gone + count_of;
        delete from posting.ingest_runs r
         where r.ctid = any (array(select x.ctid from posting.ingest_runs x
                                    where x.workspace_id = team.workspace_id
                                      and x.run_id < platform.id_at(now_ts - team.keep)
                                      and x.started_at < now_ts - team.keep limit p_limit));
        get diagnostics count_of = row_count;
        gone := gone + count_of;
    end loop;
    return gone;
end
$$;
