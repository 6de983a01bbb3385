-- The workspaces with a delivery that is due, or with one whose sender is gone, for a sender to go round. p_known are
-- those that it visits anyway.
create or replace function webhooks.due_workspaces(p_known uuid[] default '{}') returns setof uuid
language sql stable as $$
    select distinct s.workspace_id
      from core.webhook_subscriptions s
      join core.workspaces w on w.workspace_id = s.workspace_id and w.status = 'active'
     where s.workspace_id <> all (p_known)
       and (exists (select from ops.webhook_deliveries d
                     where d.workspace_id = s.workspace_id and d.subscription_id = s.subscription_id
                       and d.status in ('queued', 'retry') and d.next_attempt_at <= platform.now()
                       and s.status = 'active' and coalesce(s.closed_until, platform.now()) <= platform.now())
            or exists (select from ops.webhook_deliveries d
                        where d.workspace_id = s.workspace_id and d.subscription_id = s.subscription_id
                          and d.status = 'sending' and d.claimed_until < platform.now()))
$$;
