-- Phase 2 of a dispatch: those of the claimed deliveries whose slot has come, within the parallel gate of their
-- channel, become `sending`. The attempt counts from here; its event is written and published before anything is sent.
-- p_delivery_ids says which; null takes everything that p_run_id holds. Returns everything that an adapter needs.
-- Guarantee: no channel has more than max_parallel deliveries in `sending`, whichever process starts them.
create or replace function posting.start_sending(
    p_workspace_id uuid, p_run_id text, p_limit int, p_delivery_ids uuid[] default null
) returns setof posting.sendings language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
    now_ts constant timestamptz := platform.now();
    ids uuid[];
begin
    perform posting.lock_gates(p_workspace_id);
    ids := array(
        select t.delivery_id from (
            select d.delivery_id, d.created_at,
                   row_number() over (partition by d.channel_id order by d.created_at, d.delivery_id) as turn,
                   c.max_parallel - coalesce(n.sending, 0) as room
              from (select d.* from posting.deliveries d
                     where d.workspace_id = p_workspace_id and d.delivery_id = any (p_delivery_ids)
                       and p_delivery_ids is not null
                    union all
                    select d.* from posting.channel_counters h
                      join posting.deliveries d
                        on d.workspace_id = h.workspace_id and d.channel_id = h.channel_id and d.phase = 'inflight'
                     where p_delivery_ids is null and h.workspace_id = p_workspace_id and h.claimed > 0) d
              join posting.channels c on c.workspace_id = d.workspace_id and c.channel_id = d.channel_id
              left join posting.channel_counters n on n.workspace_id = d.workspace_id and n.channel_id = d.channel_id
             where d.status = 'claimed' and d.claim_token = p_run_id and d.not_before <= now_ts
               and c.enabled and coalesce(c.paused_until, now_ts) <= now_ts
        ) t where t.turn <= t.room order by t.turn, t.created_at limit p_limit);
    if cardinality(ids) > 0 then
        perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('sending', cardinality(ids)));
    end if;
    return query
        with started as (
            update posting.deliveries d
               set status = 'sending', attempt = d.attempt + 1, sending_started_at = now_ts, updated_at = now_ts
             where d.workspace_id = p_workspace_id and d.delivery_id = any (ids) and d.status = 'claimed'
               and d.claim_token = p_run_id
            returning d.*
        ), told as (
            insert into posting.events
                (workspace_id, id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
            select s.workspace_id, md5('start' || s.delivery_id || s.attempt)::uuid, s.delivery_id, s.message_id,
                   s.channel_id, now_ts, 'send_attempt', s.attempt, 'ok',
                   jsonb_build_object('trace_id', s.trace_id, 'run_id', p_run_id)
              from started s
        )
        select s.workspace_id, s.delivery_id, s.message_id, s.channel_id, s.attempt, s.claim_token, s.operation,
               s.rendered_text, s.render_meta, s.trace_id, c.platform, c.target_id, coalesce(a.auth_ref, c.auth_ref),
               case when s.render_meta ? 'steps' then (
                   select m.payload->'media' from posting.messages m
                    where m.workspace_id = s.workspace_id and m.message_id = s.message_id) end,
               case when s.of_delivery_id is not null then (
                   select jsonb_build_object('provider_message_id', b.provider_message_id,
                                             'progress', b.render_meta->'series_progress',
                                             'steps', b.render_meta->'steps')
                     from posting.deliveries b
                    where b.workspace_id = s.workspace_id and b.delivery_id = s.of_delivery_id) end
          from started s
          join posting.channels c on c.workspace_id = s.workspace_id and c.channel_id = s.channel_id
          left join posting.channel_auth a on a.workspace_id = s.workspace_id and a.channel_id = s.channel_id;
end
$$;
