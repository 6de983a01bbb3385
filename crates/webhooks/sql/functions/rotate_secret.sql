-- Gives a subscription another secret. Both sign until p_overlap is over, so that the receiver can change its own at
-- any moment in between; a rotation during a rotation ends the first one. Journaled. Returns the subscription as it
-- was before. Raises ZW003.
create or replace function webhooks.rotate_secret(
    p_workspace_id uuid, p_name_or_id text, p_secret_ref text, p_overlap interval, p_by text
) returns core.webhook_subscriptions language plpgsql as $$
declare
    subscription constant core.webhook_subscriptions := webhooks.find_subscription(p_workspace_id, p_name_or_id);
begin
    update core.webhook_subscriptions s
       set secret_ref = p_secret_ref, old_secret_ref = s.secret_ref, old_secret_until = platform.now() + p_overlap
     where s.workspace_id = p_workspace_id and s.subscription_id = subscription.subscription_id;
    perform ops.append_journal(p_workspace_id, 'webhooks', 'webhook_secret_rotated', subscription.name, null,
        jsonb_build_object('subscription_id', subscription.subscription_id, 'overlap', p_overlap::text, 'by', p_by));
    perform bus.publish(p_workspace_id, 'webhooks',
        jsonb_build_object('subscription_id', subscription.subscription_id));
    return subscription;
end
$$;
