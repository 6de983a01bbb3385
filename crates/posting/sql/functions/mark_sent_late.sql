-- A success that comes after the lease was lost is information: taken if nobody sent again, otherwise recorded as a
-- possible duplicate. Walks the edges that lead to `sent`; the attempt is the one that was counted when it began.
-- Raises ZD002 when no token is given (an operator).
create or replace function posting.mark_sent_late(
    p_workspace_id uuid, p_delivery_id uuid, p_provider_message_id text, p_sent_at timestamptz, p_raw_meta jsonb,
    p_claim_token text
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    delivery posting.deliveries;
    is_taken boolean;
begin
    select * into delivery from posting.deliveries d
     where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id for update;
    if not found then
        return 'unknown';
    elsif p_claim_token is null then
        raise exception 'the delivery is %, not sending', delivery.status using errcode = 'ZD002';
    elsif delivery.status = 'sent' and delivery.provider_message_id = p_provider_message_id then
        return 'repeated';
    end if;
    is_taken := delivery.status not in ('sending', 'sent', 'deduped');
    if is_taken then
        perform posting.walk_to_sent(p_workspace_id, p_delivery_id, p_provider_message_id, p_sent_at);
    end if;
    insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
    values (p_workspace_id, p_delivery_id, delivery.message_id, delivery.channel_id, now_ts,
            case when is_taken then 'sent' else 'possible_duplicate' end, delivery.attempt,
            case when is_taken then 'ok' else 'error' end,
            coalesce(p_raw_meta, '{}') || jsonb_build_object(
                'trace_id', delivery.trace_id, 'provider_message_id', p_provider_message_id, 'late', true,
                'from_status', delivery.status));
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('message_id', delivery.message_id));
    if is_taken then
        perform posting.tell_posts_sent(p_workspace_id, array[delivery.message_id]);
    end if;
    return case when is_taken then 'late' else 'possible_duplicate' end;
end
$$;
