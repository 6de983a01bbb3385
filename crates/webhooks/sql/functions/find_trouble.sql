-- What is wrong with webhooks now, in one workspace or, given null, in all; the subject is the subscription. See
-- ops.check_alerts.
--   stopped_webhooks  the system has paused or disabled the subscription; one that a person has stopped is no trouble
--   dead_events       deliveries that were given up in the last day; counting stops at 1000
create or replace function webhooks.find_trouble(p_workspace_id uuid) returns setof ops.findings
language sql stable as $$
    with asked as (
        select s.* from core.webhook_subscriptions s
          join core.workspaces w on w.workspace_id = s.workspace_id and w.status = 'active'
         where p_workspace_id is null or s.workspace_id = p_workspace_id
    )
    select a.workspace_id, 'stopped_webhooks', a.name, 1::bigint, a.status, a.stopped_at, a.stopped_why,
           interval '1 day'
      from asked a where a.status <> 'active' and a.stopped_by is null
    union all
    select a.workspace_id, 'dead_events', a.name, count(*), (array_agg(d.event_type order by d.ended_at desc))[1],
           min(d.ended_at),
           (array_agg(coalesce(d.last_error, 'the receiver answered ' || d.last_status) order by d.ended_at desc))[1],
           interval '1 day'
      from asked a
     cross join lateral (select x.event_type, x.ended_at, x.last_error, x.last_status from ops.webhook_deliveries x
                          where x.workspace_id = a.workspace_id and x.subscription_id = a.subscription_id
                            and x.status = 'dead' and x.ended_at > platform.now() - interval '1 day' limit 1000) d
     group by a.workspace_id, a.name
$$;
