-- 12.5 posts to 40 channels: in, claimed, being sent, sent, in as many transactions as our dispatcher needs.
begin;
with made as (
    insert into physical.deliveries (workspace_id, delivery_id, message_id, hash_version, content_hash, channel_id, created_at, operation, rendered_text,
                                     render_meta, template_version, trace_id, status, attempt, not_before, updated_at)
    select '00000000-0000-4000-8000-000000000001', (t.head || substr(md5(:batch || '-' || n), 14))::uuid, md5(:batch || ' ' || (n - 1) / 40)::uuid, 1,
           md5(:batch || ' ' || (n - 1) / 40), 'channel-' || (n - 1) % 40, now(), 'send',
           'Post ' || :batch || '. The tram across the river runs every seven minutes from Monday on, the last one leaves at half past one, '
           || 'and the stop at the market moves to the other side of the square.',
           '{"parse_mode": "None"}', '1', md5(:batch || ' ' || (n - 1) / 40), 'queued', 0, now(), now()
      from generate_series(1, 500) n,
           (select lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' as head) t
    returning delivery_id, message_id, channel_id, trace_id
)
insert into physical.events (workspace_id, id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
select '00000000-0000-4000-8000-000000000001', md5('enqueue' || delivery_id)::uuid, delivery_id, message_id, channel_id, now(), 'enqueue', 0, 'ok',
       jsonb_build_object('trace_id', trace_id) from made;
commit;
begin;
update physical.deliveries set status = 'claimed', claimed_at = now(), claim_token = 'batch-' || :batch, updated_at = now()
 where workspace_id = '00000000-0000-4000-8000-000000000001' and message_id = any (array(select md5(:batch || ' ' || n)::uuid from generate_series(0, 12) n));
with started as (
    update physical.deliveries set status = 'sending', attempt = attempt + 1, sending_started_at = now(), updated_at = now()
     where workspace_id = '00000000-0000-4000-8000-000000000001' and message_id = any (array(select md5(:batch || ' ' || n)::uuid from generate_series(0, 12) n))
    returning delivery_id, message_id, channel_id, trace_id, claim_token
)
insert into physical.events (workspace_id, id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
select '00000000-0000-4000-8000-000000000001', md5('start' || delivery_id)::uuid, delivery_id, message_id, channel_id, now(), 'send_attempt', 1, 'ok',
       jsonb_build_object('trace_id', trace_id, 'run_id', claim_token) from started;
commit;
begin;
with finished as (
    update physical.deliveries set status = 'sent', provider_message_id = '1000001', sent_at = now(), claimed_at = null, claim_token = null,
                                   sending_started_at = null, updated_at = now()
     where workspace_id = '00000000-0000-4000-8000-000000000001' and message_id = any (array(select md5(:batch || ' ' || n)::uuid from generate_series(0, 12) n))
    returning delivery_id, message_id, channel_id, trace_id, provider_message_id
)
insert into physical.events (workspace_id, id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
select '00000000-0000-4000-8000-000000000001', md5('sent' || delivery_id)::uuid, delivery_id, message_id, channel_id, now(), 'sent', 1, 'ok',
       jsonb_build_object('trace_id', trace_id, 'provider_message_id', provider_message_id) from finished;
commit;
