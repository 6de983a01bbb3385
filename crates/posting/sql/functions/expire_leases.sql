-- The stuck guards: gives back what a dead or stopped worker holds. A claim goes back to the queue, within seconds when
-- its dispatcher has fallen silent; a send that may have happened is retried soon, held for an operator where the
-- channel asks for that, or dead when no attempt is left.
-- Attempts are not counted here: they were when the send began. Reads only channels whose counters show something held.
-- Publishes once for each workspace. Returns how many deliveries it freed.
create or replace function posting.expire_leases(p_limit int default 500) returns int language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
    now_ts constant timestamptz := platform.now();
    stuck record;
    freed int := 0;
    workspaces uuid[] := '{}';
    error jsonb;
    ended_in uuid[];
    ended uuid[];
begin
    for stuck in
        select d.*, p.attempts_max, c.settings->>'on_unknown' as on_unknown
          from posting.channel_counters n
          join posting.channels c on c.workspace_id = n.workspace_id and c.channel_id = n.channel_id
          left join posting.queue_heads q on q.workspace_id = n.workspace_id and q.channel_id = n.channel_id
         cross join lateral posting.policy(n.workspace_id) p
          join lateral (
              select h.ctid as place, h.workspace_id, h.delivery_id, h.message_id, h.channel_id, h.status, h.attempt,
                     h.trace_id, h.not_before, h.claimed_at, h.sending_started_at, h.claim_token
                from posting.deliveries h
               where h.workspace_id = n.workspace_id and h.channel_id = n.channel_id and h.phase = 'inflight'
                 and h.status in ('claimed', 'sending')
                 and h.created_at >= coalesce(q.head_at, '-infinity')
               order by h.created_at limit n.claimed + n.sending) d
            on (d.status = 'sending' and d.sending_started_at < now_ts - p.sending_lease_seconds * interval '1 second')
            or (d.status = 'claimed' and d.not_before <= now_ts
                and (d.claimed_at < now_ts - p.claimed_lease_seconds * interval '1 second'
                     or exists (select from posting.dispatchers w
                                 where w.name = split_part(d.claim_token, '-', 1)
                                   and w.seen_at < now_ts - interval '15 seconds')))
         where n.claimed + n.sending > 0
         order by d.workspace_id, d.channel_id, d.delivery_id
         limit p_limit
    loop
        -- Looked at again under its lock: its owner may have finished a moment ago.
        perform from posting.deliveries d
          where d.ctid = stuck.place and d.delivery_id = stuck.delivery_id and d.status = stuck.status
            for update skip locked;
        continue when not found;
        insert into posting.events
            (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
        values
            (stuck.workspace_id, stuck.delivery_id, stuck.message_id, stuck.channel_id, now_ts,
             stuck.status || '_lease_expired', stuck.attempt, 'error', jsonb_build_object('trace_id', stuck.trace_id));
        if stuck.status = 'claimed' then
            update posting.deliveries d
               set status = 'queued', claimed_at = null, claim_token = null, updated_at = now_ts
             where d.ctid = stuck.place;
        elsif stuck.on_unknown = 'hold' or stuck.attempt >= stuck.attempts_max then
            error := jsonb_build_object('category', 'PERMANENT', 'scope', 'delivery', 'kind', 'unknown_outcome',
                                        'code', 'outcome_unknown',
                                        'message',
                                            'the worker stopped while it was sending; the message may have arrived');
            perform posting.end_delivery(d, case when stuck.on_unknown = 'hold' then 'failed_permanent' else 'dead' end,
                                         null, error)
               from posting.deliveries d where d.ctid = stuck.place;
            ended_in := ended_in || stuck.workspace_id;
            ended := ended || stuck.message_id;
        else
            update posting.deliveries d
               set status = 'retry', next_retry_at = now_ts + (10 + 20 * random()) * interval '1 second',
                   claimed_at = null, claim_token = null, sending_started_at = null, updated_at = now_ts
             where d.ctid = stuck.place;
        end if;
        workspaces := workspaces || stuck.workspace_id;
        freed := freed + 1;
    end loop;
    perform bus.publish(w.id, 'posting', '{}') from (select distinct unnest(workspaces) as id) w;
    perform posting.tell_posts_sent(e.workspace_id, array_agg(e.message_id))
       from unnest(ended_in, ended) e (workspace_id, message_id) group by e.workspace_id;
    return freed;
end
$$;
