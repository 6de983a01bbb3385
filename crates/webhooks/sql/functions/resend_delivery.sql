-- Sends what an ended delivery carried once more, as a new delivery that names the old one: in its row, and as
-- `resend_of` (the old webhook-id) in the signed body. Its own webhook-id is new: a receiver that has seen the old one
-- would drop the copy that a person asked for. Returns the new delivery. Raises ZW002 when the old one is still under
-- way or the subscription is stopped, ZW003 when either is gone.
create or replace function webhooks.resend_delivery(p_workspace_id uuid, p_delivery_id uuid, p_by text) returns uuid
language plpgsql as $$
declare
    delivery ops.webhook_deliveries;
begin
    select * into delivery from ops.webhook_deliveries d
     where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id;
    if not found then
        raise exception 'there is no webhook delivery %', p_delivery_id using errcode = 'ZW003';
    elsif delivery.ended_at is null then
        raise exception 'the delivery is % and goes on by itself', delivery.status
            using errcode = 'ZW002', hint = 'only one that was delivered, failed or is dead can be sent again';
    end if;
    return webhooks.add_delivery(webhooks.find_subscription(p_workspace_id, delivery.subscription_id::text),
        delivery.event_type,
        json_build_object('type', delivery.event_type, 'timestamp', delivery.body::jsonb->'timestamp',
                          'resend_of', delivery.event_id, 'data', delivery.body::jsonb->'data')::text,
        p_delivery_id, p_by);
end
$$;
