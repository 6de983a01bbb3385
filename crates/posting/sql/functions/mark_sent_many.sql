-- Records successes of those who hold their leases, all in one transaction: state, event, and the end of a channel's
-- error streak. For each delivery `sent` or `lost`; a lost one is for mark_sent to judge, one by one and each in its
-- own transaction, because it may touch any channel and the channels of one transaction are locked in their order.
create or replace function posting.mark_sent_many(
    p_workspace_id uuid, p_delivery_ids uuid[], p_provider_message_ids text[], p_sent_at timestamptz[],
    p_raw_meta jsonb[], p_claim_tokens text[]
) returns table (delivery_id uuid, outcome text) language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
    as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
    places tid[];
    done uuid[];
    streaky text[];
    posts uuid[];
begin
    -- One look by key for each, then by place: whatever the statistics say, nobody joins with the whole table.
    places := array(
        select (select d.ctid from posting.deliveries d
                 where d.workspace_id = p_workspace_id and d.delivery_id = g.id and d.status = 'sending'
                   and (g.token is null or d.claim_token = g.token))
          from unnest(p_delivery_ids, p_claim_tokens) with ordinality g (id, token, n) order by g.n);
    -- Channels before deliveries before counters, here as everywhere. Few channels have a streak to end.
    streaky := array(select c.channel_id from posting.channels c
                      where c.workspace_id = p_workspace_id and c.error_streak <> 0
                        and c.channel_id in (select d.channel_id from posting.deliveries d where d.ctid = any (places))
                      order by c.channel_id for no key update);
    with finished as (
        update posting.deliveries d
           set status = 'sent', provider_message_id = g.provider_message_id, sent_at = g.at, next_retry_at = null,
               last_error = null,
               claimed_at = null, claim_token = null, sending_started_at = null, updated_at = now_ts
          from unnest(places, p_provider_message_ids, p_sent_at, p_claim_tokens, p_raw_meta) g (place,
                  provider_message_id, at, token, meta)
         where d.ctid = g.place and d.status = 'sending' and (g.token is null or d.claim_token = g.token)
        returning d.delivery_id, d.message_id, d.channel_id, d.attempt, d.trace_id, g.provider_message_id, g.meta
    ), told as (
        insert into posting.events (workspace_id, id, delivery_id, message_id, channel_id, ts, action, attempt, result,
                                    meta)
        select p_workspace_id, md5('sent' || f.delivery_id || f.attempt)::uuid, f.delivery_id, f.message_id,
               f.channel_id, now_ts, 'sent', f.attempt, 'ok',
               jsonb_build_object('trace_id', f.trace_id, 'provider_message_id', f.provider_message_id)
                   || coalesce(f.meta, '{}')
          from finished f
    )
    select array_agg(f.delivery_id), array_agg(distinct f.message_id),
           array_agg(distinct f.channel_id) filter (where f.channel_id = any (streaky))
      into done, posts, streaky from finished f;
    if streaky is not null then
        update posting.channels c set error_streak = 0, updated_at = now_ts
         where c.workspace_id = p_workspace_id and c.channel_id = any (streaky);
    end if;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('sent', coalesce(cardinality(done), 0)));
    perform posting.tell_posts_sent(p_workspace_id, posts);
    return query select i, case when i = any (done) then 'sent' else 'lost' end from unnest(p_delivery_ids) i;
end
$$;
