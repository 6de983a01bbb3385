create type ops.findings as (
    workspace_id uuid, alert text, subject text, count bigint, sample text, since timestamptz, why text,
    remind_after interval
);
comment on type ops.findings is
    'What a module finds wrong, one row for each subject of an alert; see ops.check_alerts. No remind_after: an hour.';

create table ops.alerts (
    workspace_id    uuid not null references core.workspaces,
    module          text not null constraint alert_module_short check (char_length(module) between 1 and 50),
    alert           text not null constraint alert_name_short check (char_length(alert) between 1 and 50),
    -- What is in trouble: a channel, a bot, a job type; empty when it is the workspace as a whole.
    subject         text not null constraint alert_subject_short check (char_length(subject) <= 200),
    count           bigint not null constraint alert_count_positive check (count > 0),
    sample          text,
    since           timestamptz,
    why             text,
    raised_at       timestamptz not null default platform.now(),
    told_at         timestamptz,
    -- The count when people were last told: above it the alert has grown.
    told_count      bigint not null default 0,
    acknowledged_at timestamptz,
    acknowledged_by text,
    cleared_at      timestamptz,
    primary key (workspace_id, module, alert, subject),
    constraint alert_acknowledged_by_a_name check ((acknowledged_at is null) = (acknowledged_by is null))
);
comment on table ops.alerts is
    'What is wrong in a workspace, one row for each subject, and what was wrong before; kept by ops.check_alerts.';
create index alerts_open on ops.alerts (module) where cleared_at is null;
select platform.protect('ops.alerts');

-- Failed jobs by workspace and type, for the alert; the predicate reads a column that a claim does not change.
create index jobs_failed on ops.jobs (workspace_id, job_type) where next_run_at = 'infinity';

-- The recurring jobs of the modules have become rules of the one job `ops.retention`.
-- The owner of the tables sees no workspace's rows while row security is forced on it.
alter table ops.schedules no force row level security;
alter table ops.jobs no force row level security;
delete from ops.schedules where job_type like '%.upkeep';
delete from ops.jobs where job_type like '%.upkeep';
delete from ops.job_types where job_type like '%.upkeep';
alter table ops.schedules force row level security;
alter table ops.jobs force row level security;
