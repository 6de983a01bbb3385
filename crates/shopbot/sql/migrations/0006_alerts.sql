-- Alerts of all modules are in ops.alerts now. What is raised is moved, to be told again if its message has not left.
-- The owner of the tables sees no workspace's rows while row security is forced on it.
alter table shopbot.bot_alerts no force row level security;
alter table ops.jobs no force row level security;
alter table ops.alerts no force row level security;

insert into ops.alerts (workspace_id, module, alert, subject, count, sample, raised_at, told_at, told_count)
select a.workspace_id, 'shopbot', a.alert, a.provider, c.count, a.details->>'sample', a.raised_at,
       case when not exists (select from ops.jobs j
                              where j.workspace_id = a.workspace_id and j.job_type = 'shopbot.alert')
            then a.told_at end, c.count
  from shopbot.bot_alerts a
 cross join lateral (select greatest(1, coalesce((a.details->>'count')::bigint, 1)) as count) c
 where a.cleared_at is null
on conflict do nothing;
delete from ops.jobs where job_type = 'shopbot.alert';
delete from ops.job_types where job_type = 'shopbot.alert';
drop table shopbot.bot_alerts;

alter table ops.jobs force row level security;
alter table ops.alerts force row level security;
