-- Removes a subscription and ends what waits for it; its deliveries stay as a log until retention takes them.
-- Journaled. Returns the subscription as it was. Raises ZW003.
create or replace function webhooks.remove_subscription(p_workspace_id uuid, p_name_or_id text, p_by text)
returns core.webhook_subscriptions language plpgsql as $$
declare
    subscription constant core.webhook_subscriptions := webhooks.find_subscription(p_workspace_id, p_name_or_id);
    ended int;
begin
    ended := webhooks.end_open(subscription, 'the webhook was removed');
    delete from core.webhook_subscriptions s
     where s.workspace_id = p_workspace_id and s.subscription_id = subscription.subscription_id;
    perform ops.append_journal(p_workspace_id, 'webhooks', 'webhook_removed', subscription.name, null,
        jsonb_build_object('subscription_id', subscription.subscription_id, 'ended', ended, 'by', p_by));
    perform bus.publish(p_workspace_id, 'webhooks',
        jsonb_build_object('subscription_id', subscription.subscription_id));
    return subscription;
end
$$;
