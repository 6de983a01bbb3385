-- Ends a delivery without success, with the events that say why. Returns the status it ended in.
create or replace function posting.end_delivery(p_delivery posting.deliveries, p_status text, p_error jsonb) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
begin
    update posting.deliveries d
       set status = p_status, last_error = p_error, next_retry_at = null, claimed_at = null, claim_token = null, sending_started_at = null,
           updated_at = now_ts
     where d.workspace_id = p_delivery.workspace_id and d.delivery_id = p_delivery.delivery_id;
    if p_delivery.status = 'sending' then
        insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, error, meta)
        values (p_delivery.workspace_id, p_delivery.delivery_id, p_delivery.message_id, p_delivery.channel_id, now_ts, 'send_attempt',
                p_delivery.attempt, 'error', p_error, jsonb_build_object('trace_id', p_delivery.trace_id));
    end if;
    insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, error, meta)
    values (p_delivery.workspace_id, p_delivery.delivery_id, p_delivery.message_id, p_delivery.channel_id, now_ts,
            case p_status when 'dead' then 'dead_letter' else 'failed_permanent' end, p_delivery.attempt, 'error', p_error,
            jsonb_build_object('trace_id', p_delivery.trace_id));
    return p_status;
end
$$;
