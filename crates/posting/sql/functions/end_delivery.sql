-- Ends a delivery without success, with the events that say why; p_payload_ref is where the provider's whole answer is
-- kept, p_release what goes back into the queue with it. Returns the status it ended in.
create or replace function posting.end_delivery(
    p_delivery posting.deliveries, p_status text, p_payload_ref text, p_error jsonb, p_release tid[] default '{}'
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
begin
    perform posting.finish_attempt(p_delivery, p_status, null, p_error, p_release);
    if p_delivery.status = 'sending' then
        insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result,
                                    error, payload_ref, meta)
        values (p_delivery.workspace_id, p_delivery.delivery_id, p_delivery.message_id, p_delivery.channel_id, now_ts,
                'send_attempt',
                p_delivery.attempt, 'error', p_error, left(p_payload_ref, 500),
                    jsonb_build_object('trace_id', p_delivery.trace_id));
    end if;
    insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, error,
                                meta)
    values (p_delivery.workspace_id, p_delivery.delivery_id, p_delivery.message_id, p_delivery.channel_id, now_ts,
            case p_status when 'dead' then 'dead_letter' else 'failed_permanent' end, p_delivery.attempt, 'error',
                p_error,
            jsonb_build_object('trace_id', p_delivery.trace_id));
    perform posting.tell_failed(p_delivery.workspace_id, array[p_delivery.delivery_id]);
    return p_status;
end
$$;
