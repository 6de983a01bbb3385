create table posting.pull_sources (
    workspace_id uuid not null references core.workspaces,
    source_id    text not null constraint source_id_short check (char_length(source_id) between 1 and 100),
    kind         text not null constraint source_kind_known check (kind in ('rss', 'api', 'db')),
    config_json  jsonb not null constraint source_config_is_an_object check (jsonb_typeof(config_json) = 'object'),
    enabled      boolean not null default true,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, source_id)
);
comment on table posting.pull_sources is 'Feeds, APIs and databases that posts are fetched from.';

create table posting.pull_cursors (
    workspace_id uuid not null,
    source_id    text not null,
    cursor_json  jsonb not null default '{}',
    updated_at   timestamptz not null default platform.now(),
    primary key (workspace_id, source_id),
    foreign key (workspace_id, source_id) references posting.pull_sources on delete cascade
);
comment on table posting.pull_cursors is 'How far each source has been read.';

create table posting.pull_items (
    workspace_id uuid not null,
    source_id    text not null,
    item_key     text not null constraint item_key_short check (octet_length(item_key) <= 512),
    taken_at     timestamptz not null default platform.now(),
    primary key (workspace_id, source_id, item_key),
    foreign key (workspace_id, source_id) references posting.pull_sources on delete cascade
);
comment on table posting.pull_items is 'Every item of a source that was seen, so that each is taken once however the source reorders them.';

create table posting.ingest_runs (
    workspace_id uuid not null references core.workspaces,
    run_id       uuid not null default platform.new_id(),
    kind         text not null constraint run_kind_known check (kind in ('push', 'pull')),
    source_id    text,
    endpoint_id  uuid,
    started_at   timestamptz not null default platform.now(),
    finished_at  timestamptz,
    stats_json   jsonb not null default '{}',
    primary key (workspace_id, run_id)
);
comment on table posting.ingest_runs is 'Each push and each pull: when, from where, and what became of it.';
create index ingest_runs_by_source on posting.ingest_runs (workspace_id, source_id, started_at) where source_id is not null;

create table posting.ingress_receipts (
    workspace_id  uuid not null,
    receipt_id    uuid not null default platform.new_id(),
    endpoint_id   uuid not null,
    endpoint_kind text not null constraint receipt_kind_known check (endpoint_kind in ('webhook_push', 'bot_webhook')),
    source_ref    text constraint receipt_source_ref_short check (octet_length(source_ref) <= 512),
    payload_hash  text not null,
    received_at   timestamptz not null default platform.now(),
    expires_at    timestamptz not null,
    -- What the first copy of the request became, so that a repeat gets the same answer.
    message_id    uuid,
    primary key (workspace_id, receipt_id),
    foreign key (workspace_id, endpoint_id) references core.workspace_endpoints
);
comment on table posting.ingress_receipts is 'Which requests were accepted: a repeat is told so instead of being posted twice.';
create unique index receipt_source_ref_once on posting.ingress_receipts (workspace_id, endpoint_id, source_ref) where source_ref is not null;
create index receipts_by_hash on posting.ingress_receipts (workspace_id, endpoint_id, payload_hash, received_at desc);
create index receipts_by_expiry on posting.ingress_receipts (expires_at);

-- Not logged: after a crash every bucket is empty, which refuses nobody, and letting a request in waits for no disk while it
-- holds the row that all requests of its endpoint want.
create unlogged table posting.ingress_rates (
    workspace_id uuid not null,
    endpoint_id  uuid not null,
    -- When the endpoint would be idle again if nothing more came: the whole state of a leaky bucket.
    busy_until   timestamptz not null,
    -- Refusals are told at most once a second; these wait to be told.
    refused      int not null default 0,
    told_at      timestamptz,
    primary key (workspace_id, endpoint_id),
    foreign key (workspace_id, endpoint_id) references core.workspace_endpoints on delete cascade
) with (fillfactor = 50);
comment on table posting.ingress_rates is 'How much of its rate each endpoint has used.';

create table posting.alerts (
    workspace_id uuid not null references core.workspaces,
    alert        text not null,
    raised_at    timestamptz not null,
    told_at      timestamptz,
    cleared_at   timestamptz,
    details      jsonb not null default '{}',
    primary key (workspace_id, alert)
);
comment on table posting.alerts is 'What is wrong right now, one row per kind of trouble: told once, and again only after a while.';

-- See posting.rebuild_counters.
grant truncate on posting.ingress_rates to beresta_system;

select platform.protect('posting.pull_sources'), platform.protect('posting.pull_cursors'), platform.protect('posting.pull_items'),
       platform.protect('posting.ingest_runs'), platform.protect('posting.ingress_receipts'), platform.protect('posting.ingress_rates'),
       platform.protect('posting.alerts');
