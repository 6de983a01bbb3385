-- Records a failure that will not pass. What it says of the delivery ends the delivery alone; what it says of the channel
-- also pauses the channel (longer each time) and after a streak disables it; what it says of the platform cools the whole
-- group down. Returns failed_permanent, or `lost` when the claim token no longer holds. Raises ZD002, ZD003.
create or replace function posting.fail_permanent(
    p_workspace_id uuid, p_delivery_id uuid, p_error_json jsonb, p_claim_token text default null
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    error constant jsonb := posting.safe_error(p_error_json) || '{"category": "PERMANENT"}';
    policy constant posting.policies := posting.policy(p_workspace_id);
    delivery posting.deliveries;
    channel posting.channels;
begin
    delivery := posting.hold_delivery(p_workspace_id, p_delivery_id, p_claim_token, '{queued,retry,sending}', error->>'scope' <> 'delivery');
    if delivery is null or delivery.delivery_id is null then
        return 'lost';
    end if;
    perform posting.end_delivery(delivery, 'failed_permanent', error);
    if error->>'scope' = 'channel' then
        update posting.channels c
           set error_streak = c.error_streak + 1,
               -- The first pause is the policy's, each further one twice as long, a day at most.
               paused_until = now_ts + least(86400, policy.pause_on_permanent_seconds * power(2::float8, least(c.error_streak, 20))) * interval '1 second',
               enabled = c.enabled and c.error_streak + 1 < policy.disable_after_permanent_streak,
               updated_at = now_ts
         where c.workspace_id = p_workspace_id and c.channel_id = delivery.channel_id
        returning * into channel;
        perform posting.release_claims(p_workspace_id, delivery.channel_id);
        insert into posting.events (workspace_id, channel_id, ts, action, result, error, meta)
        values (p_workspace_id, channel.channel_id, now_ts, 'channel_paused', 'error', error,
                jsonb_build_object('until', channel.paused_until, 'error_streak', channel.error_streak, 'delivery_id', p_delivery_id));
        if channel.error_streak = policy.disable_after_permanent_streak then
            insert into posting.events (workspace_id, channel_id, ts, action, result, error, meta)
            values (p_workspace_id, channel.channel_id, now_ts, 'channel_disabled', 'error', error,
                    jsonb_build_object('error_streak', channel.error_streak, 'delivery_id', p_delivery_id));
        end if;
    elsif error->>'scope' = 'platform' then
        select * into channel from posting.channels c where c.workspace_id = p_workspace_id and c.channel_id = delivery.channel_id;
        perform posting.close_key(channel, 'platform', now_ts + coalesce((error->>'retry_after_ms')::float8, 60000) * interval '1 millisecond');
    end if;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('message_id', delivery.message_id));
    return 'failed_permanent';
end
$$;
