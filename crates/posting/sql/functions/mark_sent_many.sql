-- Records successes, all in one transaction: state, event, and the end of the channel's error streak. For each delivery:
--   sent                the holder of the lease says so
--   repeated            it was recorded already, with this very provider message
--   late                the lease was lost, but nobody sent again: taken, so that nobody will
--   possible_duplicate  the lease was lost and somebody else sends or has sent: recorded as an event, for a person to see
--   unknown             there is no such delivery
-- Raises ZD002 when no token is given (an operator) and the delivery is not being sent.
create or replace function posting.mark_sent_many(
    p_workspace_id uuid, p_delivery_ids uuid[], p_provider_message_ids text[], p_sent_at timestamptz[], p_raw_meta jsonb[], p_claim_tokens text[]
) returns table (delivery_id uuid, outcome text) language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
    places tid[];
    done uuid[];
    streaky text[];
    rest record;
begin
    -- One look by key for each, then by place: whatever the statistics say, nobody joins with the whole table.
    places := array(
        select (select d.ctid from posting.deliveries d
                 where d.workspace_id = p_workspace_id and d.delivery_id = g.id and d.status = 'sending'
                   and (g.token is null or d.claim_token = g.token))
          from unnest(p_delivery_ids, p_claim_tokens) with ordinality g (id, token, n) order by g.n);
    with finished as (
        update posting.deliveries d
           set status = 'sent', provider_message_id = g.provider_message_id, sent_at = g.at, next_retry_at = null, last_error = null,
               claimed_at = null, claim_token = null, sending_started_at = null, updated_at = now_ts
          from unnest(places, p_provider_message_ids, p_sent_at, p_claim_tokens, p_raw_meta) g (place, provider_message_id, at, token, meta)
         where d.ctid = g.place and d.status = 'sending' and (g.token is null or d.claim_token = g.token)
        returning d.delivery_id, d.message_id, d.channel_id, d.attempt, d.trace_id, g.provider_message_id, g.meta
    ), told as (
        insert into posting.events (workspace_id, id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
        select p_workspace_id, md5('sent' || f.delivery_id || f.attempt)::uuid, f.delivery_id, f.message_id, f.channel_id, now_ts, 'sent', f.attempt, 'ok',
               jsonb_build_object('trace_id', f.trace_id, 'provider_message_id', f.provider_message_id) || coalesce(f.meta, '{}')
          from finished f
    )
    select array_agg(f.delivery_id), array_agg(distinct f.channel_id) into done, streaky from finished f;
    update posting.channels c set error_streak = 0, updated_at = now_ts
     where c.workspace_id = p_workspace_id and c.channel_id = any (streaky) and c.error_streak <> 0;
    return query select i, 'sent' from unnest(done) i;

    if coalesce(cardinality(done), 0) < cardinality(p_delivery_ids) then
        for rest in
            select g.id, g.provider_message_id, g.at, g.meta, g.token
              from unnest(p_delivery_ids, p_provider_message_ids, p_sent_at, p_claim_tokens, p_raw_meta) g (id, provider_message_id, at, token, meta)
             where done is null or g.id <> all (done)
             order by g.id
        loop
            return query select rest.id, posting.mark_sent_late(p_workspace_id, rest.id, rest.provider_message_id, rest.at, rest.meta, rest.token);
        end loop;
    end if;
end
$$;
