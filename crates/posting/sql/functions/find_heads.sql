-- Looks where the queue of each channel begins, and keeps it in posting.queue_heads for everybody who looks at queues.
-- Finished deliveries leave dead entries in the index until vacuum comes, for minutes when a long transaction runs
-- beside; whoever begins at the head steps over none of them.
-- Guarantee: no delivery under way is older than the head of its queue. A head is the oldest delivery that is seen, or
-- a time of which nothing older can still come: a second before an earlier look, once every transaction that was
-- writing then has ended. Who begins to write later and makes something older takes the head away (posting.drop_head).
create or replace function posting.find_heads(p_workspace_id uuid) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
    as $$
begin
    insert into posting.queue_heads (workspace_id, channel_id)
    select c.workspace_id, c.channel_id from posting.channels c
     where c.workspace_id = p_workspace_id and c.enabled
       and not exists (select from posting.queue_heads h where h.workspace_id = c.workspace_id
                       and h.channel_id = c.channel_id)
    on conflict do nothing;
    if found then
        -- Whoever writes meanwhile could not take away what it does not see yet.
        return;
    end if;
    update posting.queue_heads q
       set head_at = case when q.next_at is null then q.head_at else least(f.oldest, q.next_at) end,
           -- Our own id, because it is above that of everybody who has begun to write; the end of a snapshot may not
           -- be.
           next_at = now() - interval '1 second', next_xid = pg_current_xact_id()
      from (select h.channel_id, h.drops, h.next_xid, o.created_at as oldest
              from posting.queue_heads h
              left join lateral (
                  select d.created_at from posting.deliveries d
                   where d.workspace_id = h.workspace_id and d.channel_id = h.channel_id and d.phase = 'inflight'
                     and d.created_at >= h.head_at
                   order by d.created_at, d.delivery_id limit 1) o on h.next_xid is not null
             where h.workspace_id = p_workspace_id
               and coalesce(h.next_xid <= pg_snapshot_xmin(pg_current_snapshot()), true)
             order by h.channel_id for no key update of h skip locked) f
     where q.workspace_id = p_workspace_id and q.channel_id = f.channel_id and q.drops = f.drops
       and q.next_xid is not distinct from f.next_xid;
end
$$;
