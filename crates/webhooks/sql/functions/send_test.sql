-- Sends `webhook.test` to one subscription and ignores its filter. Returns the delivery. Raises ZW002 when it is
-- stopped, ZW003.
create or replace function webhooks.send_test(p_workspace_id uuid, p_name_or_id text, p_by text) returns uuid
language plpgsql as $$
declare
    subscription constant core.webhook_subscriptions := webhooks.find_subscription(p_workspace_id, p_name_or_id);
begin
    return webhooks.add_delivery(subscription, 'webhook.test', ops.event_body('webhook.test', jsonb_build_object(
        'subscription_id', subscription.subscription_id, 'name', subscription.name, 'by', p_by)), null, p_by);
end
$$;
