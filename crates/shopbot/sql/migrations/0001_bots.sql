create table shopbot.bots (
    workspace_id          uuid not null references core.workspaces,
    provider              text not null constraint bot_provider_known check (provider in ('max', 'telegram')),
    secret_ref            text not null
                          constraint bot_token_is_a_reference check (secret_ref ~ '^(env|file):.+' and char_length(secret_ref) <= 1000),
    enabled               boolean not null default true,
    -- What the bot says when no rule speaks.
    greeting_text         text not null default 'Здравствуйте! Я помогу с вопросами о магазине. Напишите, что вас интересует.'
                          constraint bot_greeting_sendable check (char_length(greeting_text) between 1 and 3000),
    fallback_text         text not null default 'Не совсем понял вас. Напишите, пожалуйста, другими словами.'
                          constraint bot_fallback_sendable check (char_length(fallback_text) between 1 and 3000),
    escalation_text       text not null default 'Передаю ваш вопрос сотруднику магазина: он ответит вам здесь.'
                          constraint bot_escalation_sendable check (char_length(escalation_text) between 1 and 3000),
    unsupported_text      text not null default 'Я понимаю только текст. Напишите, пожалуйста, словами.'
                          constraint bot_unsupported_sendable check (char_length(unsupported_text) between 1 and 3000),
    menu                  jsonb not null default '[]' constraint bot_menu_readable check (shopbot.is_quick_replies(menu)),
    variables             jsonb not null default '{}' constraint bot_variables_readable check (shopbot.is_variables(variables)),
    -- When it gives up on understanding, and on talking at all.
    fallbacks_max         int not null default 3 constraint bot_fallbacks_positive check (fallbacks_max > 0),
    turns_max             int not null default 20 constraint bot_turns_positive check (turns_max > 1),
    state_timeout_seconds int not null default 900 constraint bot_timeout_bounded check (state_timeout_seconds between 1 and 604800),
    mute_seconds          int not null default 300 constraint bot_mute_bounded check (mute_seconds between 1 and 86400),
    -- How fast and how often it sends. Null means without a limit of ours.
    rate_rps              numeric default 25 constraint bot_rate_bounded check (rate_rps > 0 and rate_rps <= 100000),
    chat_rps              numeric default 2 constraint bot_chat_rate_bounded check (chat_rps > 0 and chat_rps <= 1000),
    attempts_max          int not null default 8 constraint bot_attempts_bounded check (attempts_max between 1 and 100),
    -- Whom to tell of trouble, through the same bot, and when.
    alert_chat_id         text constraint bot_alert_chat_short check (char_length(alert_chat_id) between 1 and 64),
    alert_error_rate      numeric not null default 0.1 constraint bot_error_rate_is_a_share check (alert_error_rate between 0 and 1),
    alert_min_messages    int not null default 20 constraint bot_alert_messages_positive check (alert_min_messages > 0),
    alert_again_seconds   int not null default 3600 constraint bot_alert_again_positive check (alert_again_seconds > 0),
    -- A provider repeats a webhook for a day at most; what is forgotten sooner could be answered twice.
    keep_days             int not null default 30 constraint bot_messages_kept check (keep_days >= 2),
    created_at            timestamptz not null default platform.now(),
    -- From here on what the sender changes.
    next_allowed_at       timestamptz,
    closed_until          timestamptz,
    primary key (workspace_id, provider)
) with (fillfactor = 50);
comment on table shopbot.bots is 'The bot of a workspace in one messenger: where its token is, what it says when no rule speaks, and its limits.';
comment on column shopbot.bots.menu is 'Quick replies under the greeting and the fallback.';
comment on column shopbot.bots.variables is 'What every template may use: the name of the shop, its phone, address and hours.';
comment on column shopbot.bots.turns_max is 'Messages of one chat without a pause after which an operator is called and the bot is silent for a while: the guard against two bots.';
comment on column shopbot.bots.rate_rps is 'Answers a second over all chats; with the burst of a fifth of a second, 25 stays within 30.';
comment on column shopbot.bots.chat_rps is 'Answers a second in one chat.';
comment on column shopbot.bots.closed_until is 'Until when the provider, or a token that it refuses, keeps us from sending anything.';

-- A variable that a template uses cannot be taken away under it.
create constraint trigger bot_variables_suffice after insert or update of greeting_text, fallback_text, escalation_text,
    unsupported_text, variables on shopbot.bots deferrable initially deferred
    for each row execute function shopbot.check_changed_rules();

select platform.protect('shopbot.bots');
