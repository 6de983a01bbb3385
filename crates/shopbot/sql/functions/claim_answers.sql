-- Takes up to p_limit answers of a workspace that are due, for the holder of p_run_id, which becomes their claim token.
-- The attempt counts from here: a process that dies while it sends reaches no other line of ours. Returns everything
-- that an adapter needs.
-- Guarantees: an answer has at most one claim; of a chat only its oldest unfinished answer is taken, so answers arrive
-- in order; a bot sends no more than its rate, with a burst of a fifth of a second, and nothing while it is closed;
-- each bot gets its first answer before any gets its second.
-- Whoever claims for a bot holds its row; another one skips that bot and comes back.
create or replace function shopbot.claim_answers(
    p_run_id text, p_limit int, p_lease interval, p_workspace_id uuid
)
returns setof shopbot.sendings language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
    now_ts constant timestamptz := platform.now();
    burst constant interval := interval '200 milliseconds';
    workspaces uuid[];
    bots uuid[];
    rooms int[];
    places tid[];
begin
    select array_agg(k.workspace_id), array_agg(k.bot_id),
           array_agg(case when k.rate_rps is null then p_limit
                          else greatest(floor(k.rate_rps
                                              * extract(epoch from now_ts + burst - greatest(k.next_allowed_at,
                                                      now_ts))),
                                        (coalesce(k.next_allowed_at, now_ts) <= now_ts)::int) end::int)
      into workspaces, bots, rooms
      from (select b.workspace_id, b.bot_id, b.rate_rps, b.next_allowed_at
              from shopbot.bots b
              join core.bots r on r.workspace_id = b.workspace_id and r.bot_id = b.bot_id
              join core.workspaces w on w.workspace_id = b.workspace_id
             where b.workspace_id = p_workspace_id and r.enabled and w.status = 'active'
               and coalesce(b.closed_until, now_ts) <= now_ts
               and exists (select from shopbot.bot_outbox o
                            where o.workspace_id = b.workspace_id and o.bot_id = b.bot_id and o.phase = 'open')
             order by b.bot_id for no key update of b skip locked) k;
    places := array(
        select t.place from (
            select h.place, h.seq, g.room,
                   row_number() over (partition by g.workspace_id, g.bot_id order by h.seq) as turn
              from unnest(workspaces, bots, rooms) g (workspace_id, bot_id, room)
             cross join lateral (
                   select distinct on (o.chat_id) o.ctid as place, o.seq, o.status, o.next_retry_at
                     from shopbot.bot_outbox o
                    where o.workspace_id = g.workspace_id and o.bot_id = g.bot_id and o.phase = 'open'
                    order by o.chat_id, o.seq) h
             where h.status in ('queued', 'retry') and h.next_retry_at <= now_ts
        ) t where t.turn <= t.room order by t.turn, t.seq limit p_limit);
    if cardinality(places) = 0 then
        return;
    end if;
    return query
        with claimed as (
            update shopbot.bot_outbox o
               set status = 'sending', attempt = o.attempt + 1, claim_token = p_run_id,
                   claimed_until = now_ts + p_lease,
                   updated_at = now_ts
             where o.ctid = any (array(select x.ctid from shopbot.bot_outbox x
                                        where x.ctid = any (places) and x.status in ('queued', 'retry')
                                          for update skip locked))
            returning o.*
        ), paced as (
            update shopbot.bots b
               set next_allowed_at = greatest(b.next_allowed_at, now_ts)
                                     + c.n * (interval '1 second' / b.rate_rps::float8)
              from (select c.workspace_id, c.bot_id, count(*) as n from claimed c
                     group by c.workspace_id, c.bot_id) c
             where b.workspace_id = c.workspace_id and b.bot_id = c.bot_id and b.rate_rps is not null
        ), told as (
            insert into bus.messages (workspace_id, topic, payload)
            select c.workspace_id, 'shopbot', jsonb_build_object('sending', count(*)) from claimed c
             group by c.workspace_id
        )
        select c.workspace_id, c.answer_id, c.provider, c.chat_id, c.inbound_kind, c.inbound_provider_message_id,
               c.text, c.buttons,
               r.secret_ref, c.attempt, c.claim_token, c.idempotency_key, c.trace_id
          from claimed c
          join core.bots r on r.workspace_id = c.workspace_id and r.bot_id = c.bot_id;
end
$$;
