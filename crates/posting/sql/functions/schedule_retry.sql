-- Records a failure that may pass: the delivery waits for p_next_retry_at (null: the policy decides) or, after its last
-- allowed attempt, is dead. A provider that named a time closes its key for everybody until then.
-- A send that left without an answer is tried again too, unless the channel holds such deliveries for an operator.
-- Returns retry, dead or failed_permanent; `lost` when the claim token no longer holds. Raises ZD002, ZD003.
create or replace function posting.schedule_retry(
    p_workspace_id uuid, p_delivery_id uuid, p_next_retry_at timestamptz, p_error_json jsonb, p_claim_token text default null
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    error constant jsonb := posting.safe_error(p_error_json);
    closes constant boolean := error->>'scope' <> 'delivery' and (error ? 'retry_after_ms' or error->>'code' = '429');
    policy constant posting.policies := posting.policy(p_workspace_id);
    delivery posting.deliveries;
    channel posting.channels;
    next_status text := 'retry';
    at timestamptz;
begin
    delivery := posting.hold_delivery(p_workspace_id, p_delivery_id, p_claim_token, '{sending}', closes);
    if delivery is null or delivery.delivery_id is null then
        return 'lost';
    end if;
    select * into channel from posting.channels c where c.workspace_id = p_workspace_id and c.channel_id = delivery.channel_id;
    at := coalesce(p_next_retry_at, posting.retry_at(policy, channel, delivery.attempt, error, now_ts));
    if error->'outcome_unknown' = 'true' and channel.settings->>'on_unknown' = 'hold' then
        return posting.end_delivery(delivery, 'failed_permanent', error || '{"code": "outcome_unknown", "category": "PERMANENT", "scope": "delivery"}');
    elsif delivery.attempt >= policy.attempts_max then
        next_status := posting.end_delivery(delivery, 'dead', error);
    else
        update posting.deliveries d
           set status = 'retry', next_retry_at = at, last_error = error, claimed_at = null, claim_token = null,
               sending_started_at = null, updated_at = now_ts
         where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id;
        insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, error, meta)
        values (p_workspace_id, p_delivery_id, delivery.message_id, delivery.channel_id, now_ts, 'send_attempt', delivery.attempt, 'error', error,
                jsonb_build_object('trace_id', delivery.trace_id)),
               (p_workspace_id, p_delivery_id, delivery.message_id, delivery.channel_id, now_ts, 'retry_scheduled', delivery.attempt, 'ok', error,
                jsonb_build_object('trace_id', delivery.trace_id, 'next_retry_at', at));
    end if;
    if closes then
        perform posting.close_key(channel, error->>'scope',
            now_ts + coalesce((error->>'retry_after_ms')::float8, policy.backoff_base_seconds * 1000) * interval '1 millisecond');
    end if;
    return next_status;
end
$$;
