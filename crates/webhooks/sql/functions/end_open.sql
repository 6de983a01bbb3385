-- What waits for a subscription will not be sent any more. What is being sent comes to its end. Returns how many there
-- were.
create or replace function webhooks.end_open(p_subscription core.webhook_subscriptions, p_why text) returns int
language plpgsql as $$
declare
    ended int;
begin
    update ops.webhook_deliveries d set status = 'failed', ended_at = platform.now(), last_error = left(p_why, 500)
     where d.workspace_id = p_subscription.workspace_id and d.subscription_id = p_subscription.subscription_id
       and d.status in ('queued', 'retry');
    get diagnostics ended = row_count;
    return ended;
end
$$;
