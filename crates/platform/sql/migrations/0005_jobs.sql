create table ops.job_types (
    job_type     text primary key,
    attempts_max int not null constraint job_attempts_positive check (attempts_max > 0),
    lease_ms     int not null constraint job_lease_bounded check (lease_ms between 1000 and 86400000)
);
comment on table ops.job_types is 'Registered by the modules when a process starts; a job of another type is refused.';

-- Live jobs only: a finished job leaves this table for ops.job_runs in one statement, so the table stays as
-- small as the backlog. No foreign key to the workspace: the enqueueing function checks it once per call
-- instead of once per row.
--
-- A claim, a heartbeat and a release touch no indexed column (a running job keeps its next_run_at and is
-- told apart by its lease), and half of each page is kept free for them: every such update is heap-only.
create table ops.jobs (
    workspace_id uuid not null,
    id           bigint generated always as identity,
    job_type     text not null,
    payload      jsonb not null default '{}'
                 constraint job_payload_bounded check (pg_column_size(payload) <= 262144),
    dedup_key    text constraint job_dedup_key_short check (octet_length(dedup_key) <= 512),
    trace_id     text,
    status       text not null default 'queued'
                 constraint job_status_known check (status in ('queued', 'running', 'failed')),
    attempts     int not null default 0,
    -- Attempts from before an operator asked for the job again: they do not count any more.
    forgiven     int not null default 0,
    next_run_at  timestamptz not null,
    lease_id     uuid,
    leased_until timestamptz,
    worker_id    text,
    started_at   timestamptz,
    last_error   jsonb,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, id),
    constraint job_running_iff_leased check ((status = 'running') = (lease_id is not null)),
    constraint job_lease_has_a_deadline check ((lease_id is null) = (leased_until is null)),
    -- Failed jobs wait for an operator beyond every due time, out of the way of the claim's index scan.
    constraint job_failed_is_never_due check (status <> 'failed' or next_run_at = 'infinity')
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table ops.jobs is 'Work to do. Claimed in batches under a lease; see ops.claim_jobs.';
create index jobs_due on ops.jobs (job_type, next_run_at, id);
create unique index job_dedup_key_is_live_once on ops.jobs (workspace_id, job_type, dedup_key) where dedup_key is not null;

-- After, not before: a trigger before an update makes PostgreSQL lock, and log, every row of a claim once more.
create trigger job_edge after update on ops.jobs for each row
    when (old.status <> new.status and (old.status, new.status) not in
          (('queued', 'running'), ('running', 'queued'), ('running', 'failed'), ('failed', 'queued')))
    execute function platform.refuse_edge();

create table ops.job_runs (
    workspace_id uuid not null,
    job_id       bigint not null,
    attempt      int not null,
    ts           timestamptz not null default platform.now(),
    job_type     text not null,
    outcome      text not null
                 constraint job_outcome_known check (outcome in ('succeeded', 'retried', 'failed', 'lease_expired')),
    worker_id    text,
    trace_id     text,
    started_at   timestamptz,
    error        jsonb,
    primary key (workspace_id, job_id, attempt, ts)
) partition by range (ts);
comment on table ops.job_runs is 'Every attempt at every job and how it ended. A job that succeeded is found only here.';
-- Rows arrive in the order of their time: a block range index tells an hour apart at almost no cost.
create index job_runs_by_time on ops.job_runs using brin (ts) with (pages_per_range = 16);
create table ops.job_runs_default partition of ops.job_runs default;
insert into platform.journals values ('ops.job_runs', 'day', '14 days');

create table ops.schedules (
    workspace_id uuid not null references core.workspaces,
    name         text not null,
    job_type     text not null references ops.job_types,
    payload      jsonb not null default '{}',
    every        interval not null constraint schedule_interval_positive check (every >= interval '1 second'),
    next_fire_at timestamptz not null,
    primary key (workspace_id, name)
);
comment on table ops.schedules is 'Recurring jobs: whichever process comes first after next_fire_at enqueues one job and moves it on.';
create index schedules_by_job_type on ops.schedules (job_type);

create table ops.processes (
    process_id uuid primary key,
    roles      text[] not null,
    place      text not null,
    version    text not null,
    started_at timestamptz not null,
    seen_at    timestamptz not null
);
comment on table ops.processes is 'The processes that run now: each says so every half a minute, and whoever is silent for longer is gone.';

select platform.append_only('ops.job_runs');
select platform.protect('ops.jobs'), platform.protect('ops.job_runs'), platform.protect('ops.schedules');
