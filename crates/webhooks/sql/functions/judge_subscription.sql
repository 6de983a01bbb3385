-- What an attempt says of its receiver, whose row the caller has locked. A success forgets the failures before it. A
-- receiver that asks to slow down (429, or 503 with Retry-After) gets nothing until then; one that fails five times in
-- a row gets one delivery at a time, with a pause that grows to a minute. After a day in which every attempt failed it
-- is paused; 410 disables it.
create or replace function webhooks.judge_subscription(
    p_workspace_id uuid, p_subscription_id uuid, p_is_success boolean, p_result jsonb, p_asked interval
) returns void language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    asks_to_wait constant boolean := coalesce(p_result->>'status' = '429'
        or (p_result->>'status' = '503' and p_asked is not null), false);
    subscription core.webhook_subscriptions;
begin
    update core.webhook_subscriptions s
       set failures = case when p_is_success then 0 else s.failures + 1 end,
           failing_since = case when not p_is_success then coalesce(s.failing_since, now_ts) end,
           closed_until = case when p_is_success then s.closed_until
                               when asks_to_wait then greatest(s.closed_until,
                                   now_ts + coalesce(p_asked, interval '1 minute'))
                               when s.failures >= 4 then greatest(s.closed_until,
                                   now_ts + least(60, power(2::float8, least(s.failures - 4, 10)))
                                       * interval '1 second')
                               else s.closed_until end,
           delivered = s.delivered + p_is_success::int,
           delivered_at = case when p_is_success then now_ts else s.delivered_at end
     where s.workspace_id = p_workspace_id and s.subscription_id = p_subscription_id
    returning * into subscription;
    if not found or subscription.status <> 'active' then
        return;
    elsif p_result->>'status' = '410' then
        perform webhooks.stop_subscription(subscription, 'disabled',
            'the receiver answered 410: it wants no more events');
    elsif subscription.failing_since <= now_ts - interval '1 day' then
        perform webhooks.stop_subscription(subscription, 'paused', format(
            'every attempt since %s failed, the last one: %s',
            to_char(subscription.failing_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
            coalesce('status ' || (p_result->>'status'), p_result->>'error', 'no answer')));
    end if;
end
$$;
