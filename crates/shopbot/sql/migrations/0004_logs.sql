create sequence shopbot.bot_log_id;
create table shopbot.bot_logs (
    workspace_id                uuid not null,
    ts                          timestamptz not null default platform.now(),
    id                          bigint not null default nextval('shopbot.bot_log_id'),
    provider                    text not null,
    chat_id                     text not null,
    inbound_provider_message_id text not null,
    message_text                text not null,
    outcome                     text not null constraint log_outcome_known check (
                                    outcome in ('answered', 're_asked', 'fallback', 'escalated', 'greeted', 'unsupported', 'muted')),
    matched_rule_id             text,
    rule_version                int,
    state_before                text not null,
    state_after                 text not null,
    response_preview            text,
    meta                        jsonb not null default '{}',
    primary key (workspace_id, ts, id),
    constraint log_rule_has_its_version check ((matched_rule_id is null) = (rule_version is null))
) partition by range (ts);
alter sequence shopbot.bot_log_id owned by shopbot.bot_logs.id;
comment on table shopbot.bot_logs is 'Every message, which rule answered it and why, and what that did to the state. Redacted, never changed, forgotten by the week after 90 days.';
create index logs_by_chat on shopbot.bot_logs (workspace_id, provider, chat_id, ts);
create table shopbot.bot_logs_default partition of shopbot.bot_logs default;
insert into platform.journals values ('shopbot.bot_logs', 'week', '90 days');

create table shopbot.bot_poison (
    workspace_id uuid not null,
    id           uuid not null default platform.new_id(),
    provider     text not null constraint poison_provider_known check (provider in ('max', 'telegram')),
    endpoint_id  uuid,
    received_at  timestamptz not null default platform.now(),
    last_seen_at timestamptz not null default platform.now(),
    seen_count   bigint not null default 1,
    problem      text not null,
    body_hash    text not null constraint poison_hash_is_a_sha256 check (body_hash ~ '^[0-9a-f]{64}$'),
    body         text not null,
    primary key (workspace_id, id),
    constraint poison_is_kept_once unique (workspace_id, provider, body_hash)
);
comment on table shopbot.bot_poison is 'Updates that were acknowledged and could not be handled, redacted: the provider would only send them again.';

create table shopbot.bot_alerts (
    workspace_id uuid not null references core.workspaces,
    provider     text not null,
    alert        text not null constraint alert_known check (alert in ('error_rate', 'late_answers')),
    raised_at    timestamptz not null,
    told_at      timestamptz,
    cleared_at   timestamptz,
    details      jsonb not null default '{}',
    primary key (workspace_id, provider, alert)
);
comment on table shopbot.bot_alerts is 'What is wrong with a bot right now: told once, and again only after a while.';

select platform.append_only('shopbot.bot_logs');
select platform.protect('shopbot.bot_logs'), platform.protect('shopbot.bot_poison'), platform.protect('shopbot.bot_alerts');
