-- Records a failure that may pass: the delivery waits for p_next_retry_at (null: the policy decides) or, after its last
-- allowed attempt, is dead. A provider that limits our rate closes its key for everybody: until the time that it names,
-- or for the first wait of the policy when it names none. A send that left without an answer is tried again too, unless
-- the channel holds such deliveries for an operator.
-- Returns retry, dead or failed_permanent; `lost` when the claim token no longer holds. Raises ZD002, ZD003.
create or replace function posting.schedule_retry(
    p_workspace_id uuid, p_delivery_id uuid, p_next_retry_at timestamptz, p_error_json jsonb,
    p_claim_token text default null
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    error constant jsonb := platform.safe_error(p_error_json);
    raw_at constant text := p_error_json->>'payload_ref';
    policy constant posting.policies := posting.policy(p_workspace_id);
    delivery posting.deliveries;
    channel posting.channels;
    release tid[] := '{}';
    at timestamptz;
    ended text;
begin
    select c.* into channel
      from posting.deliveries d
      join posting.channels c on c.workspace_id = d.workspace_id and c.channel_id = d.channel_id
     where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id;
    if error->>'scope' <> 'delivery' and (error ? 'retry_after_ms' or error->>'kind' = 'rate_limited')
       and (p_claim_token is null or posting.still_held(p_workspace_id, p_delivery_id, p_claim_token)) then
        perform posting.lock_gates(p_workspace_id);
        release := posting.close_key(channel, error->>'scope', now_ts + interval '1 millisecond'
            * coalesce((error->>'retry_after_ms')::float8, policy.backoff_base_seconds * 1000));
    end if;
    delivery := posting.hold_delivery(p_workspace_id, p_delivery_id, p_claim_token, '{sending}');
    if delivery.delivery_id is null then
        return 'lost';
    end if;
    if error->>'kind' = 'unknown_outcome' and channel.settings->>'on_unknown' = 'hold' then
        ended := posting.end_delivery(delivery, 'failed_permanent', raw_at,
            error || '{"code": "outcome_unknown", "category": "PERMANENT", "scope": "delivery"}', release);
    elsif delivery.attempt >= policy.attempts_max then
        ended := posting.end_delivery(delivery, 'dead', raw_at, error, release);
    end if;
    if ended is not null then
        perform posting.tell_posts_sent(p_workspace_id, array[delivery.message_id]);
        return ended;
    end if;
    at := coalesce(p_next_retry_at, posting.retry_at(policy, channel, delivery.attempt, error, now_ts));
    perform posting.finish_attempt(delivery, 'retry', at, error, release);
    insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, error,
                                payload_ref, meta)
    values (p_workspace_id, p_delivery_id, delivery.message_id, delivery.channel_id, now_ts, 'send_attempt',
            delivery.attempt, 'error', error, left(raw_at, 500), jsonb_build_object('trace_id', delivery.trace_id)),
           (p_workspace_id, p_delivery_id, delivery.message_id, delivery.channel_id, now_ts, 'retry_scheduled',
            delivery.attempt, 'ok', error, null,
            jsonb_build_object('trace_id', delivery.trace_id, 'next_retry_at', at));
    return 'retry';
end
$$;
