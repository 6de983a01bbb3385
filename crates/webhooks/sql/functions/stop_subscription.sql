-- Pauses or disables a subscription, which the caller has locked. Of a paused one the deliveries wait; those of a
-- disabled one have failed, because its receiver wants none. Journaled; without p_by the system did it, and that is
-- an error and an alert for a person to see.
create or replace function webhooks.stop_subscription(
    p_subscription core.webhook_subscriptions, p_status text, p_why text, p_by text default null
) returns void language plpgsql as $$
declare
    why constant text := left(p_why, 500);
begin
    update core.webhook_subscriptions s
       set status = p_status, stopped_at = platform.now(), stopped_why = why,
           stopped_by = left(nullif(p_by, ''), 200)
     where s.workspace_id = p_subscription.workspace_id and s.subscription_id = p_subscription.subscription_id;
    if p_status = 'disabled' then
        perform webhooks.end_open(p_subscription, why);
    end if;
    perform ops.append_journal(p_subscription.workspace_id, 'webhooks', 'webhook_' || p_status, p_subscription.name,
        null, jsonb_build_object('subscription_id', p_subscription.subscription_id, 'why', why, 'by', p_by));
    if p_by is null then
        perform ops.record_error(p_subscription.workspace_id, 'webhooks', 'sender', 'send', null, null, null,
            format('the webhook `%s` is %s: %s', p_subscription.name, p_status, why), false,
            jsonb_build_object('subscription_id', p_subscription.subscription_id));
    end if;
    perform bus.publish(p_subscription.workspace_id, 'webhooks',
        jsonb_build_object('subscription_id', p_subscription.subscription_id));
end
$$;
