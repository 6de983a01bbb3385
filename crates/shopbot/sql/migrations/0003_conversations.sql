-- Every chat has one row, and whoever handles a message of the chat holds it: so its messages take turns, across processes.
-- No indexed column changes, and half of each page is free for new versions: every update is heap-only.
create table shopbot.bot_state (
    workspace_id   uuid not null,
    provider       text not null,
    chat_id        text not null constraint state_chat_short check (char_length(chat_id) between 1 and 64),
    state          text not null default 'default',
    context        jsonb not null default '{}',
    expires_at     timestamptz,
    -- When the chat may get its next answer.
    next_answer_at timestamptz,
    updated_at     timestamptz not null default platform.now(),
    -- The provider too: one engine serves both messengers, whose chat ids mean nothing to each other.
    primary key (workspace_id, provider, chat_id)
) with (fillfactor = 50);
comment on table shopbot.bot_state is 'Where each conversation stands: its state, and what the engine has to remember.';
comment on column shopbot.bot_state.context is
    'turns since the last pause; fallbacks in a row; of a running scenario: intent, versions of its rules, began (turns before it), max_turns, vars, shown (vars, redacted); muted_until.';

create table shopbot.bot_inbox (
    workspace_id        uuid not null,
    provider            text not null,
    chat_id             text not null,
    provider_message_id text not null constraint inbound_id_short check (octet_length(provider_message_id) between 1 and 512),
    -- In the order of handling: given while the chat is held.
    arrival             bigint generated always as identity,
    ts                  timestamptz not null default platform.now(),
    kind                text not null constraint inbound_kind_known check (kind in ('text', 'button', 'start', 'other')),
    is_from_bot         boolean not null default false,
    trace_id            text,
    primary key (workspace_id, provider, chat_id, provider_message_id)
);
comment on table shopbot.bot_inbox is 'Which messages were handled: the receipt that makes a repeated webhook change nothing.';
create index inbox_by_time on shopbot.bot_inbox (workspace_id, ts);

-- As with deliveries of posts: only `phase` is in indexes and predicates, so that a claim is a heap-only update.
create table shopbot.bot_outbox (
    workspace_id                uuid not null,
    answer_id                   uuid not null default platform.new_id(),
    provider                    text not null,
    chat_id                     text not null,
    inbound_provider_message_id text not null,
    inbound_kind                text not null,
    -- The arrival of the message that it answers: the order within the chat.
    seq                         bigint not null,
    text                        text not null,
    buttons                     jsonb not null,
    response_hash               text not null,
    trace_id                    text,
    idempotency_key             text not null generated always as (provider || ':' || chat_id || ':' || inbound_provider_message_id) stored,
    created_at                  timestamptz not null default platform.now(),
    -- From here on what changes.
    phase                       text not null generated always as (
                                    case when status in ('queued', 'sending', 'retry') then 'open' else status end) stored,
    status                      text not null default 'queued'
                                constraint answer_status_known check (status in ('queued', 'sending', 'sent', 'retry', 'failed', 'dead')),
    attempt                     int not null default 0 constraint answer_attempt_not_negative check (attempt >= 0),
    unknown_outcomes            int not null default 0 constraint answer_unknowns_not_negative check (unknown_outcomes >= 0),
    next_retry_at               timestamptz not null default platform.now(),
    claim_token                 text,
    claimed_until               timestamptz,
    provider_message_id         text,
    sent_at                     timestamptz,
    failed_at                   timestamptz,
    last_error                  jsonb,
    updated_at                  timestamptz not null default platform.now(),
    primary key (workspace_id, answer_id),
    -- The specification's rule, with the provider for the reason given at bot_state.
    constraint one_answer_to_each_message unique (workspace_id, provider, chat_id, inbound_provider_message_id),
    constraint answer_sending_iff_claimed check ((status = 'sending') = (claim_token is not null)),
    constraint answer_claim_has_a_deadline check ((claim_token is null) = (claimed_until is null)),
    constraint answer_sent_has_its_time check ((status = 'sent') = (sent_at is not null)),
    constraint answer_failed_has_its_time check ((status in ('failed', 'dead')) = (failed_at is not null))
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table shopbot.bot_outbox is 'Answers: written with the state they follow from, sent under a lease, in order within a chat.';
comment on column shopbot.bot_outbox.unknown_outcomes is 'Attempts whose end nobody could read: at most so many copies of the answer may have arrived beside the first.';
create index answers_open on shopbot.bot_outbox (workspace_id, provider, chat_id, seq) where phase = 'open';
create index answers_failed on shopbot.bot_outbox (workspace_id, provider, failed_at) where phase in ('failed', 'dead');

-- The last two: a success that comes after the lease was lost is still a success.
create trigger answer_edge after update on shopbot.bot_outbox for each row
    when (old.status <> new.status and (old.status, new.status) not in (
        ('queued', 'sending'), ('retry', 'sending'), ('sending', 'sent'), ('sending', 'retry'), ('sending', 'failed'),
        ('sending', 'dead'), ('retry', 'sent'), ('dead', 'sent')))
    execute function platform.refuse_edge();

select platform.protect('shopbot.bot_state'), platform.protect('shopbot.bot_inbox'), platform.protect('shopbot.bot_outbox');

create type shopbot.sendings as (
    workspace_id uuid, answer_id uuid, provider text, chat_id text, inbound_kind text, inbound_provider_message_id text, text text,
    buttons jsonb, secret_ref text, attempt int, claim_token text, idempotency_key text, trace_id text
);
comment on type shopbot.sendings is 'An answer that is being sent, with everything an adapter needs.';

create type shopbot.matches as (rule shopbot.bot_rules, step text, why jsonb);
comment on type shopbot.matches is 'The rule that speaks: by a keyword of the state, by capturing, by a keyword of any time; or the one that asks again.';

create type shopbot.decisions as (
    outcome text, response text, preview text, buttons jsonb, rule_id text, rule_version int, state_before text, state_after text,
    context jsonb, expires_at timestamptz, why jsonb
);
comment on type shopbot.decisions is 'What the engine makes of a message: the answer, if any, and where the conversation stands after it.';
