-- Alerts of all modules are in ops.alerts now. What is raised is moved, to be told again if its message has not left.
-- The owner of the tables sees no workspace's rows while row security is forced on it.
alter table posting.alerts no force row level security;
alter table ops.jobs no force row level security;
alter table ops.alerts no force row level security;

insert into ops.alerts (workspace_id, module, alert, subject, count, sample, raised_at, told_at, told_count)
select a.workspace_id, 'posting', a.alert, '', c.count, a.details->>'sample', a.raised_at,
       case when not exists (select from ops.jobs j
                              where j.workspace_id = a.workspace_id and j.job_type = 'posting.alert')
            then a.told_at end, c.count
  from posting.alerts a
 cross join lateral (select greatest(1, coalesce((a.details->>'count')::bigint, 1)) as count) c
 where a.cleared_at is null
on conflict do nothing;
delete from ops.jobs where job_type = 'posting.alert';
delete from ops.job_types where job_type = 'posting.alert';

create table posting.audits (
    workspace_id  uuid primary key references core.workspaces,
    orphan_events bigint not null constraint audit_count_positive check (orphan_events > 0),
    audited_at    timestamptz not null
);
comment on table posting.audits is
    'How many events of a workspace refer to nothing, as posting.find_orphan_events last saw; no row means none.';
insert into posting.audits (workspace_id, orphan_events, audited_at)
select a.workspace_id, (a.details->>'orphans')::bigint, platform.now() from posting.alerts a
 where a.alert = 'orphan_events' and a.cleared_at is null and (a.details->>'orphans')::bigint > 0;
select platform.protect('posting.audits');

drop table posting.alerts;

alter table ops.jobs force row level security;
alter table ops.alerts force row level security;
