-- Looks where the queue of each channel begins, and keeps it in posting.queue_heads for everybody who looks at queues: the time of its
-- oldest delivery under way, a second ago at the latest (a transaction that adds one may be that old). Finished deliveries leave dead
-- entries in the index until vacuum comes, for minutes when a long transaction runs beside; whoever begins at the head steps over none of
-- them. Goes on from the known heads; p_is_whole looks from the very beginning, which finds what an operator has brought
-- back and what was committed late. One at a time: a look that began earlier must not put a head back.
create or replace function posting.find_heads(p_workspace_id uuid, p_is_whole boolean) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
    now_ts constant timestamptz := platform.now();
begin
    if not pg_try_advisory_xact_lock(hashtext('posting.heads'), hashtext(p_workspace_id::text)) then
        return;
    end if;
    insert into posting.queue_heads as q (workspace_id, channel_id, head_at, whole_at)
    select c.workspace_id, c.channel_id, least(o.created_at, now_ts - interval '1 second'), now_ts
      from posting.channels c
      left join posting.queue_heads h on h.workspace_id = c.workspace_id and h.channel_id = c.channel_id and not p_is_whole
      left join lateral (
          select d.created_at from posting.deliveries d
           where d.workspace_id = c.workspace_id and d.channel_id = c.channel_id and d.phase = 'inflight'
             and d.created_at >= posting.head_of(h)
           order by d.created_at, d.delivery_id limit 1) o on true
     where c.workspace_id = p_workspace_id and c.enabled
    on conflict (workspace_id, channel_id) do update
       set head_at = excluded.head_at, whole_at = case when p_is_whole or posting.head_of(q) = '-infinity' then excluded.whole_at else q.whole_at end
     where p_is_whole or q.head_at <> excluded.head_at;
end
$$;
