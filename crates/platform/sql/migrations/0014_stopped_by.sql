-- Who stopped a subscription: what a person has paused is no trouble, what the system has is.
alter table core.webhook_subscriptions
    add stopped_by text constraint subscription_stopped_by_short check (char_length(stopped_by) between 1 and 200),
    add constraint subscription_active_is_stopped_by_none check (status <> 'active' or stopped_by is null);
comment on column core.webhook_subscriptions.stopped_by is 'The person who stopped it; absent when the system did.';
-- The owner of the tables sees no workspace's rows while row security is forced on it.
alter table core.webhook_subscriptions no force row level security;
alter table ops.journal no force row level security;
update core.webhook_subscriptions s
   set stopped_by = (select left(nullif(j.data->>'by', ''), 200) from ops.journal j
                      where j.workspace_id = s.workspace_id and j.source = 'webhooks'
                        and j.action = 'webhook_' || s.status
                        and j.data->>'subscription_id' = s.subscription_id::text
                      order by j.ts desc, j.id desc limit 1)
 where s.status <> 'active';
alter table core.webhook_subscriptions force row level security;
alter table ops.journal force row level security;

-- The look for trouble asks what died in the last day.
create index webhook_deliveries_dead on ops.webhook_deliveries (workspace_id, subscription_id, ended_at)
    where status = 'dead';
