-- A person pauses a subscription: nothing is sent, and events are collected until it is enabled again. A paused one
-- stays as it is. Raises ZW002 for a disabled one, ZW003.
create or replace function webhooks.pause_subscription(p_workspace_id uuid, p_name_or_id text, p_why text, p_by text)
returns core.webhook_subscriptions language plpgsql as $$
declare
    subscription constant core.webhook_subscriptions := webhooks.find_subscription(p_workspace_id, p_name_or_id);
begin
    if subscription.status = 'disabled' then
        raise exception 'the webhook `%` is disabled and gets no events', subscription.name using errcode = 'ZW002';
    elsif subscription.status = 'active' then
        perform webhooks.stop_subscription(subscription, 'paused', coalesce(nullif(p_why, ''), 'paused by hand'), p_by);
    end if;
    return webhooks.find_subscription(p_workspace_id, subscription.subscription_id::text);
end
$$;
