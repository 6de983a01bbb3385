-- Adds a subscription. The secret is given by reference; the caller has looked at the address. Journaled. Raises ZW001
-- (the column says what to correct) for a name that is taken, an unknown event, or a subscription too many: every
-- event is written once for each that asks for it, in the transaction that makes it true.
create or replace function webhooks.add_subscription(
    p_workspace_id uuid, p_subscription_id uuid, p_name text, p_url text, p_secret_ref text, p_events text[], p_by text
) returns core.webhook_subscriptions language plpgsql as $$
declare
    subscription core.webhook_subscriptions;
begin
    if char_length(coalesce(p_name, '')) not between 1 and 100 or p_name ~ '[[:cntrl:]]' then
        raise exception 'a webhook has a name of 1 to 100 characters' using errcode = 'ZW001', column = 'name';
    elsif (select count(*) from core.webhook_subscriptions s where s.workspace_id = p_workspace_id) >= 50 then
        raise exception 'a workspace has at most 50 webhooks' using errcode = 'ZW001', column = 'name';
    end if;
    insert into core.webhook_subscriptions (workspace_id, subscription_id, name, url, secret_ref, events)
    values (p_workspace_id, p_subscription_id, p_name, p_url, p_secret_ref, webhooks.check_events(p_events))
    on conflict (workspace_id, name) do nothing returning * into subscription;
    if subscription.subscription_id is null then
        raise exception 'there is a webhook `%` already', p_name using errcode = 'ZW001', column = 'name';
    end if;
    perform ops.append_journal(p_workspace_id, 'webhooks', 'webhook_added', p_name, null,
        jsonb_build_object('subscription_id', p_subscription_id, 'events', subscription.events, 'by', p_by));
    perform bus.publish(p_workspace_id, 'webhooks', jsonb_build_object('subscription_id', p_subscription_id));
    return subscription;
end
$$;
