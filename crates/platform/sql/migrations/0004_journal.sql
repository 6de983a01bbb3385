create sequence ops.journal_id;
create table ops.journal (
    workspace_id uuid not null,
    ts           timestamptz not null default platform.now(),
    id           bigint not null default nextval('ops.journal_id'),
    source       text not null,
    action       text not null,
    subject      text,
    trace_id     text,
    data         jsonb not null default '{}',
    primary key (workspace_id, ts, id)
) partition by range (ts);
alter sequence ops.journal_id owned by ops.journal.id;
comment on table ops.journal is 'What the system itself did: one row per fact, written in the transaction that made it true.';
create index journal_by_trace on ops.journal (workspace_id, trace_id) where trace_id is not null;
create table ops.journal_default partition of ops.journal default;

create sequence ops.error_id;
create table ops.errors (
    workspace_id uuid not null,
    ts           timestamptz not null default platform.now(),
    id           bigint not null default nextval('ops.error_id'),
    source       text not null,
    node         text,
    op           text,
    job_id       bigint,
    trace_id     text,
    status_code  int,
    message      text not null,
    retryable    boolean not null,
    error        jsonb not null default '{}',
    primary key (workspace_id, ts, id)
) partition by range (ts);
alter sequence ops.error_id owned by ops.errors.id;
comment on table ops.errors is 'Every error that somebody may have to look at, redacted.';
create table ops.errors_default partition of ops.errors default;

insert into platform.journals values ('ops.journal', 'month', '1 year'), ('ops.errors', 'week', '90 days');
select platform.append_only('ops.journal'), platform.append_only('ops.errors');
select platform.protect('ops.journal'), platform.protect('ops.errors');
