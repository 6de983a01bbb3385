-- Records a failure that will not pass. What it says of the delivery ends the delivery alone; what it says of the
-- channel also pauses the channel (longer each time) and after a streak disables it; what it says of the platform cools
-- the whole group down. Returns failed_permanent, or `lost` when the claim token no longer holds. Raises ZD002, ZD003.
create or replace function posting.fail_permanent(
    p_workspace_id uuid, p_delivery_id uuid, p_error_json jsonb, p_claim_token text default null
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    error constant jsonb := platform.safe_error(p_error_json) || '{"category": "PERMANENT"}';
    delivery posting.deliveries;
    channel posting.channels;
    release tid[] := '{}';
begin
    if error->>'scope' <> 'delivery' then
        perform posting.lock_gates(p_workspace_id);
        if p_claim_token is not null and not posting.still_held(p_workspace_id, p_delivery_id, p_claim_token) then
            return 'lost';
        end if;
        select c.* into channel
          from posting.deliveries d
          join posting.channels c on c.workspace_id = d.workspace_id and c.channel_id = d.channel_id
         where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id;
        release := case when error->>'scope' = 'channel' then posting.penalize(channel, p_delivery_id, error)
                        else posting.close_key(channel, 'platform', now_ts + interval '1 millisecond'
                                * coalesce((error->>'retry_after_ms')::float8, 60000)) end;
    end if;
    delivery := posting.hold_delivery(p_workspace_id, p_delivery_id, p_claim_token, '{queued,retry,sending}');
    if delivery.delivery_id is null then
        return 'lost';
    end if;
    perform posting.end_delivery(delivery, 'failed_permanent', p_error_json->>'payload_ref', error, release);
    perform posting.tell_posts_sent(p_workspace_id, array[delivery.message_id]);
    return 'failed_permanent';
end
$$;
