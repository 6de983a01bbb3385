-- Who may use a knowledge bot, in which chats, and what may be kept of a chat. `tenant` is the word of the contracts for a
-- workspace; the tables keep their names.
create type core.visibility_scope as enum ('group', 'dm');

create table core.tenant_users (
    workspace_id uuid not null references core.workspaces,
    tg_user_id   bigint not null constraint tenant_user_id_positive check (tg_user_id > 0),
    role         text not null default 'user'
                 constraint tenant_user_role_known check (role in ('admin', 'user', 'blocked')),
    name         text constraint tenant_user_name_short check (char_length(name) <= 200),
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, tg_user_id)
);
comment on table core.tenant_users is 'The allowlist: nobody else gets an answer or has a private document.';

create table core.tenant_chats (
    workspace_id  uuid not null references core.workspaces,
    chat_id       bigint not null,
    bot_id        uuid,
    status        text not null default 'active' constraint tenant_chat_status_known check (status in ('active', 'disabled')),
    registered_by bigint,
    created_at    timestamptz not null default platform.now(),
    primary key (workspace_id, chat_id),
    foreign key (workspace_id, bot_id) references core.bots
);
comment on table core.tenant_chats is
    'Groups and channels whose content is kept. Before a chat is registered only the raw update is stored, and it expires.';
create index tenant_chats_by_bot on core.tenant_chats (workspace_id, bot_id);

create table core.chat_policies (
    workspace_id             uuid not null references core.workspaces,
    chat_id                  bigint not null,
    allow_url_fetch          boolean not null default true,
    allow_file_download      boolean not null default true,
    allow_embedding          boolean not null default true,
    retention_days_raw       int not null default 90
                             constraint policy_raw_days_bounded check (retention_days_raw between 1 and 36500),
    retention_days_documents int not null default 3650
                             constraint policy_document_days_bounded check (retention_days_documents between 1 and 36500),
    updated_at               timestamptz not null default platform.now(),
    primary key (workspace_id, chat_id)
);
comment on table core.chat_policies is 'What may be kept of a chat and for how long. A chat without a row has the defaults of these columns.';

create table core.bot_transport_config (
    workspace_id       uuid not null,
    bot_id             uuid not null,
    mode               text not null default 'auto' constraint transport_mode_known check (mode in ('webhook', 'polling', 'auto')),
    webhook_url        text constraint transport_url_is_https check (webhook_url ~ '^https?://' and char_length(webhook_url) <= 2000),
    webhook_secret_ref text constraint transport_secret_is_a_reference check (webhook_secret_ref ~ '^(env|file):.+'),
    pending_max        int not null default 100 constraint transport_pending_bounded check (pending_max between 1 and 100000),
    updated_at         timestamptz not null default platform.now(),
    primary key (workspace_id, bot_id),
    foreign key (workspace_id, bot_id) references core.bots on delete cascade
);
comment on table core.bot_transport_config is 'How the updates of a bot are to come: auto means the webhook, and polling while it does not work.';

create table core.bot_transport_state (
    workspace_id   uuid not null,
    bot_id         uuid not null,
    mode           text not null constraint transport_state_known check (mode in ('webhook', 'polling')),
    since          timestamptz not null default platform.now(),
    username       text,
    last_update_id bigint,
    poll_token     text,
    polled_until   timestamptz,
    pending        int,
    failures       int not null default 0,
    checked_at     timestamptz,
    last_error     text,
    primary key (workspace_id, bot_id),
    foreign key (workspace_id, bot_id) references core.bots on delete cascade
);
comment on column core.bot_transport_state.poll_token is 'The one process that asks for updates, until polled_until.';
comment on table core.bot_transport_state is 'How they come now, written by the watchdog (WF11) and by whoever takes an update.';

create table ops.webhook_health_snapshots (
    workspace_id    uuid not null,
    id              bigint generated always as identity,
    bot_id          uuid not null,
    ts              timestamptz not null default platform.now(),
    url             text,
    pending         int,
    last_error      text,
    last_error_at   timestamptz,
    verdict         text not null,
    primary key (workspace_id, id),
    foreign key (workspace_id, bot_id) references core.bots on delete cascade
);
comment on table ops.webhook_health_snapshots is 'What getWebhookInfo said each time the watchdog asked.';
create index webhook_health_by_bot on ops.webhook_health_snapshots (workspace_id, bot_id, id desc);
create index webhook_health_by_time on ops.webhook_health_snapshots (ts);

create table ops.bot_transport_events (
    workspace_id uuid not null,
    id           bigint generated always as identity,
    bot_id       uuid not null,
    ts           timestamptz not null default platform.now(),
    event        text not null,
    details      jsonb not null default '{}',
    primary key (workspace_id, id),
    foreign key (workspace_id, bot_id) references core.bots on delete cascade
);
comment on table ops.bot_transport_events is 'Changes of transport: repaired, switched to polling, switched back.';
create index bot_transport_events_by_bot on ops.bot_transport_events (workspace_id, bot_id, id desc);
create index bot_transport_events_by_time on ops.bot_transport_events (ts);

select platform.protect('core.tenant_users'), platform.protect('core.tenant_chats'), platform.protect('core.chat_policies'),
       platform.protect('core.bot_transport_config'), platform.protect('core.bot_transport_state'),
       platform.protect('ops.webhook_health_snapshots'), platform.protect('ops.bot_transport_events');
