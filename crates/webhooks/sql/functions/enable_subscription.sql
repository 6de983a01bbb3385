-- A person enables a subscription: its failures are forgotten, and what it has collected is sent at once, including
-- what waited for a later attempt. Journaled. Raises ZW003.
create or replace function webhooks.enable_subscription(p_workspace_id uuid, p_name_or_id text, p_by text)
returns core.webhook_subscriptions language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    subscription core.webhook_subscriptions := webhooks.find_subscription(p_workspace_id, p_name_or_id);
begin
    update core.webhook_subscriptions s
       set status = 'active', stopped_at = null, stopped_why = null, stopped_by = null, failures = 0,
           failing_since = null, closed_until = null
     where s.workspace_id = p_workspace_id and s.subscription_id = subscription.subscription_id
    returning * into subscription;
    update ops.webhook_deliveries d set next_attempt_at = now_ts
     where d.workspace_id = p_workspace_id and d.subscription_id = subscription.subscription_id
       and d.status in ('queued', 'retry') and d.next_attempt_at > now_ts;
    perform ops.append_journal(p_workspace_id, 'webhooks', 'webhook_enabled', subscription.name, null,
        jsonb_build_object('subscription_id', subscription.subscription_id, 'by', p_by));
    perform bus.publish(p_workspace_id, 'webhooks',
        jsonb_build_object('subscription_id', subscription.subscription_id));
    return subscription;
end
$$;
