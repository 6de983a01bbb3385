-- What the bot was told and repeats: the receipt of a message and the effect that answers it, in one row.
create table echobot.echoes (
    workspace_id    uuid not null references core.workspaces,
    echo_id         uuid not null default platform.new_id(),
    bot_id          uuid not null,
    chat_id         text not null constraint echo_chat_short check (char_length(chat_id) between 1 and 100),
    message_id      text not null constraint echo_message_short check (char_length(message_id) between 1 and 200),
    text            text not null constraint echo_text_bounded check (char_length(text) between 1 and 4000),
    words           int,
    created_at      timestamptz not null default platform.now(),
    -- From here on what sending changes.
    status          text not null default 'queued'
                    constraint echo_status_known check (status in ('queued', 'sending', 'retry', 'sent', 'dead')),
    attempt         int not null default 0 constraint echo_attempt_not_negative check (attempt >= 0),
    next_attempt_at timestamptz not null default platform.now(),
    claim_token     text,
    claimed_until   timestamptz,
    last_error      jsonb,
    primary key (workspace_id, echo_id),
    constraint echo_is_made_once unique (workspace_id, bot_id, chat_id, message_id),
    foreign key (workspace_id, bot_id) references core.bots,
    constraint echo_sending_iff_claimed check ((status = 'sending') = (claim_token is not null)),
    constraint echo_claim_has_a_deadline check ((claim_token is null) = (claimed_until is null))
);
comment on table echobot.echoes is 'What the bot was told, once for each message, and whether it has repeated it.';
comment on column echobot.echoes.words is 'Counted by a job, after the message was taken.';
create index echoes_due on echobot.echoes (workspace_id, next_attempt_at) where status in ('queued', 'retry');
create index echoes_sending on echobot.echoes (workspace_id, claimed_until) where status = 'sending';
-- Retention looks over all workspaces.
create index echoes_by_time on echobot.echoes (created_at);

-- The last one: a success that comes after the lease was lost is still a success.
create trigger echo_edge after update on echobot.echoes for each row
    when (old.status <> new.status and (old.status, new.status) not in (
        ('queued', 'sending'), ('retry', 'sending'), ('sending', 'sent'), ('sending', 'retry'), ('sending', 'dead'),
        ('retry', 'sent')))
    execute function platform.refuse_edge();

select platform.protect('echobot.echoes');
insert into ops.event_types values ('echo.sent', 'the echo bot has repeated a message');
