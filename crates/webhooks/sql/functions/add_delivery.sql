-- One delivery that a person asked for, with a webhook-id of its own, for a subscription that the caller has locked.
-- Raises ZW002 when the subscription is stopped: the delivery would wait with the others.
create or replace function webhooks.add_delivery(
    p_subscription core.webhook_subscriptions, p_event_type text, p_body text, p_resend_of uuid, p_by text
) returns uuid language plpgsql as $$
declare
    made uuid;
begin
    if p_subscription.status <> 'active' then
        raise exception 'the webhook `%` is %: %', p_subscription.name, p_subscription.status,
            p_subscription.stopped_why using errcode = 'ZW002', hint = 'enable it first';
    end if;
    insert into ops.webhook_deliveries (workspace_id, subscription_id, event_id, event_type, body, resend_of)
    values (p_subscription.workspace_id, p_subscription.subscription_id, platform.new_id(), p_event_type, p_body,
            p_resend_of)
    returning delivery_id into made;
    perform ops.append_journal(p_subscription.workspace_id, 'webhooks',
        case when p_resend_of is null then 'webhook_tested' else 'webhook_resent' end, p_subscription.name, null,
        jsonb_strip_nulls(jsonb_build_object('delivery_id', made, 'resend_of', p_resend_of, 'by', p_by)));
    perform bus.publish(p_subscription.workspace_id, 'webhooks',
        jsonb_build_object('subscription_id', p_subscription.subscription_id));
    return made;
end
$$;
