-- The subscription of this name or id, locked for the caller, who is about to change it or to make deliveries for it.
-- Raises ZW003 when there is none.
create or replace function webhooks.find_subscription(p_workspace_id uuid, p_name_or_id text)
returns core.webhook_subscriptions language plpgsql as $$
declare
    subscription core.webhook_subscriptions;
begin
    select * into subscription from core.webhook_subscriptions s
     where s.workspace_id = p_workspace_id and (s.name = p_name_or_id or s.subscription_id::text = lower(p_name_or_id))
     order by s.subscription_id limit 1 for no key update;
    if not found then
        raise exception 'there is no webhook `%`', left(p_name_or_id, 100) using errcode = 'ZW003',
            hint = platform.near_names(left(p_name_or_id, 100), array(
                select s.name from core.webhook_subscriptions s where s.workspace_id = p_workspace_id));
    end if;
    return subscription;
end
$$;
