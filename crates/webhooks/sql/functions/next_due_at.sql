-- When there may next be something to claim in a workspace: the earliest time that the deliveries of a subscription
-- wait for.
create or replace function webhooks.next_due_at(p_workspace_id uuid) returns timestamptz language sql stable as $$
    select min(greatest(s.closed_until, d.next_attempt_at))
      from core.webhook_subscriptions s
     cross join lateral (
           select d.next_attempt_at from ops.webhook_deliveries d
            where d.workspace_id = s.workspace_id and d.subscription_id = s.subscription_id
              and d.status in ('queued', 'retry')
            order by d.next_attempt_at limit 1) d
     where s.workspace_id = p_workspace_id and s.status = 'active'
$$;
