-- Phase 1 of a dispatch: claims up to p_limit due deliveries of one workspace for the holder of p_run_id, which becomes
-- their claim token, and gives each its slot. A run id is for one claim: whoever holds it may start and finish these
-- deliveries, and nobody else. Guarantees: a delivery has at most one claim; slots of a channel are at least 1/rate_rps
-- apart, slots of a rate group too, and none lies before a time that the provider closed; a channel gets no more claims
-- than its max_parallel has room for; a channel that comes back from quarantine gets one delivery as a probe until one
-- was sent; every channel gets its first delivery before any gets its second, so a long queue in one delays no other.
--
-- Those who gate one workspace (claim, start, close) take turns under an advisory lock: their decisions read counters
-- and clocks that must not move meanwhile. After it the order is the specification's: platform_limits, channels,
-- deliveries; the last with SKIP LOCKED, so that a row which somebody else holds never stops the rest.
--
-- A queue is looked at from where find_heads last found its beginning.
create or replace function posting.claim_deliveries(p_workspace_id uuid, p_run_id text, p_limit int)
returns setof posting.deliveries language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
    as $$
declare
    now_ts constant timestamptz := platform.now();
    -- Slots are given this far ahead and no further, so that a closed or paused channel holds no claims.
    ahead constant interval := interval '1 second';
    policy posting.policies;
    share int;
    places tid[];
    free tid[];
    kept tid[] := '{}';
    chosen record;
    channel_ids text[] := '{}';
    channel_steps interval[];
    channel_next timestamptz[];
    group_ids text[] := '{}';
    group_steps interval[];
    group_next timestamptz[];
    slots timestamptz[] := '{}';
    channel_at int;
    group_at int;
    slot timestamptz;
begin
    if not exists (select from core.workspaces w where w.workspace_id = p_workspace_id and w.status = 'active') then
        return;
    end if;
    policy := posting.policy(p_workspace_id);
    perform posting.lock_gates(p_workspace_id);

    -- First a fair share of each channel, which is all when many have work; everything they have room for when that was
    -- too little.
    select greatest(1, ceil(p_limit::numeric / greatest(1, count(*)))) into share from posting.channels c
     where c.workspace_id = p_workspace_id and c.enabled;
    for pass in 1..2 loop
    places := array(
        select t.place from (
            select q.place, q.turn, q.created_at
              from posting.channels c
              left join posting.platform_limits l
                on l.workspace_id = c.workspace_id and l.platform = c.platform and l.rate_group = c.rate_group
              left join posting.channel_counters n on n.workspace_id = c.workspace_id and n.channel_id = c.channel_id
              left join posting.queue_heads h on h.workspace_id = c.workspace_id and h.channel_id = c.channel_id
              cross join lateral (
                  select case when c.error_streak > 0 then 1 - coalesce(n.claimed + n.sending, 0)
                              else least(policy.claims_per_channel_max,
                                         c.max_parallel - coalesce(n.claimed + n.sending, 0),
                                         case when c.rate_rps > 0 then 1 + floor(c.rate_rps * extract(epoch from
                                             now_ts + ahead - greatest(now_ts, c.next_allowed_at)))::int end) end
                                                 as room
              ) r
              cross join lateral (
                  select d.ctid as place, d.created_at, row_number() over (order by d.created_at, d.delivery_id) as turn
                    from (select d.ctid, d.created_at, d.delivery_id from posting.deliveries d
                           where d.workspace_id = c.workspace_id and d.channel_id = c.channel_id
                             and d.phase = 'inflight'
                             and d.created_at >= coalesce(h.head_at, '-infinity') and d.status in ('queued', 'retry')
                             and d.not_before <= now_ts
                             and (d.status = 'queued' or coalesce(d.next_retry_at, now_ts) <= now_ts)
                             and (d.of_delivery_id is null
                                  or posting.can_follow(d.workspace_id, d.of_delivery_id, d.delivery_id))
                           order by d.created_at, d.delivery_id limit least(greatest(r.room, 0), share)) d
              ) q
             where c.workspace_id = p_workspace_id and c.enabled and coalesce(c.paused_until, now_ts) <= now_ts
               -- A slot ahead is for those who are given slots; a closed key is closed for all.
               and coalesce(c.next_allowed_at, now_ts) <= now_ts + case when c.rate_rps > 0 then ahead
                   else interval '0' end
               and coalesce(l.next_allowed_at, now_ts) <= now_ts + case when l.rate_rps > 0 then ahead
                   else interval '0' end
               and r.room > 0
               and (c.window_mode = 'immediate' or posting.next_open_at(c.posting_window, c.timezone, now_ts) <= now_ts)
        ) t order by t.turn, t.created_at limit p_limit);
        exit when cardinality(places) >= p_limit or cardinality(places) < share;
        share := policy.claims_per_channel_max;
    end loop;
    if cardinality(places) = 0 then
        return;
    end if;

    -- The clocks of those that are given slots, locked in the order of the specification.
    select array_agg(k.platform || ' ' || k.rate_group), array_agg(interval '1 second' / k.rate_rps::float8),
           array_agg(greatest(now_ts, k.next_allowed_at))
      into group_ids, group_steps, group_next
      from (select l.* from posting.platform_limits l
             where l.workspace_id = p_workspace_id and l.rate_rps > 0
               and (l.platform, l.rate_group) in (select c.platform, c.rate_group from posting.channels c
                                                  join posting.deliveries d
                                                     on d.workspace_id = c.workspace_id and d.channel_id = c.channel_id
                                                   where d.ctid = any (places))
             order by l.platform, l.rate_group for no key update) k;
    select array_agg(k.channel_id), array_agg(interval '1 second' / k.rate_rps::float8),
           array_agg(greatest(now_ts, k.next_allowed_at))
      into channel_ids, channel_steps, channel_next
      from (select c.* from posting.channels c
             where c.workspace_id = p_workspace_id and c.rate_rps > 0
               and c.channel_id in (select d.channel_id from posting.deliveries d where d.ctid = any (places))
             order by c.channel_id for no key update) k;

    free := array(select d.ctid from posting.deliveries d
                   where d.ctid = any (places) and d.status in ('queued', 'retry') for update skip locked);
    if channel_ids is null and group_ids is null then
        return query
            update posting.deliveries d set status = 'claimed', claimed_at = now_ts, claim_token = p_run_id,
                updated_at = now_ts
             where d.ctid = any (free) returning d.*;
        return;
    end if;

    for chosen in
        select p.place, d.channel_id, c.platform || ' ' || c.rate_group as group_id
          from unnest(places) with ordinality p (place, n)
          join posting.deliveries d on d.ctid = p.place
          join posting.channels c on c.workspace_id = d.workspace_id and c.channel_id = d.channel_id
         where p.place = any (free)
         order by p.n
    loop
        channel_at := array_position(channel_ids, chosen.channel_id);
        group_at := array_position(group_ids, chosen.group_id);
        slot := greatest(channel_next[channel_at], group_next[group_at], now_ts);
        continue when slot > now_ts + ahead;
        if channel_at is not null then
            channel_next[channel_at] := slot + channel_steps[channel_at];
        end if;
        if group_at is not null then
            group_next[group_at] := slot + group_steps[group_at];
        end if;
        kept := kept || chosen.place;
        slots := slots || slot;
    end loop;
    update posting.platform_limits l set next_allowed_at = g.next_at, updated_at = now_ts
      from unnest(group_ids, group_next) g (group_id, next_at)
     where l.workspace_id = p_workspace_id and l.platform || ' ' || l.rate_group = g.group_id
       and g.next_at > coalesce(l.next_allowed_at, now_ts);
    update posting.channels c set next_allowed_at = k.next_at, updated_at = now_ts
      from unnest(channel_ids, channel_next) k (channel_id, next_at)
     where c.workspace_id = p_workspace_id and c.channel_id = k.channel_id
       and k.next_at > coalesce(c.next_allowed_at, now_ts);
    return query
        update posting.deliveries d
           set status = 'claimed', claimed_at = now_ts, claim_token = p_run_id, updated_at = now_ts, not_before = s.slot
          from unnest(kept, slots) s (place, slot)
         where d.ctid = s.place
        returning d.*;
end
$$;
