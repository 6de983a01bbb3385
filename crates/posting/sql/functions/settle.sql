-- An operator settles a delivery whose outcome nobody knows: it is there (`delivered`), or it is to be sent again
-- (`resend`). Audited. Raises ZD002 when the delivery is not one that waits for this, ZD003 when there is none, ZD005
-- for another verdict, or without operator or reason.
create or replace function posting.settle(
    p_workspace_id uuid, p_delivery_id uuid, p_verdict text, p_operator text, p_reason text,
    p_provider_message_id text default null
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    note constant jsonb := posting.manual_note(p_operator, p_reason);
    delivery posting.deliveries;
begin
    if p_verdict not in ('delivered', 'resend') then
        raise exception 'the verdict is delivered or resend' using errcode = 'ZD005';
    end if;
    delivery := posting.hold_delivery(p_workspace_id, p_delivery_id, null, '{failed_permanent,dead}');
    if platform.error_kind(delivery.last_error) <> 'unknown_outcome' then
        raise exception 'the outcome of this delivery is known: %', delivery.last_error->>'code'
            using errcode = 'ZD002';
    end if;
    if p_verdict = 'delivered' then
        perform posting.walk_to_sent(p_workspace_id, p_delivery_id, p_provider_message_id, now_ts);
    else
        update posting.deliveries d
           set status = 'retry', next_retry_at = now_ts, updated_at = now_ts
         where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id;
    end if;
    insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
    values (p_workspace_id, p_delivery_id, delivery.message_id, delivery.channel_id, now_ts, 'manual_settle',
            delivery.attempt, 'ok', note || jsonb_build_object('verdict', p_verdict, 'from_status', delivery.status));
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('message_id', delivery.message_id));
    if p_verdict = 'delivered' then
        perform posting.tell_posts_sent(p_workspace_id, array[delivery.message_id]);
    end if;
    return case p_verdict when 'delivered' then 'sent' else 'retry' end;
end
$$;
