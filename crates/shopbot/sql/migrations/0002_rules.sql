create table shopbot.bot_rules (
    workspace_id      uuid not null references core.workspaces,
    rule_id           text not null constraint rule_id_plain check (rule_id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
    version           int not null constraint rule_version_positive check (version > 0),
    enabled           boolean not null default false,
    intent            text not null constraint rule_intent_plain check (intent ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
    pattern           jsonb not null constraint rule_pattern_readable check (shopbot.is_pattern(pattern)),
    keywords          text[] not null generated always as (shopbot.fold_keywords(pattern)) stored,
    priority          int not null default 0,
    max_turns         int not null default 5 constraint rule_turns_positive check (max_turns > 1),
    -- The steps of a scenario belong to a state; a rule without one is for any time.
    state             text constraint rule_state_plain check (state ~ '^[a-z][a-z0-9_]{0,49}$' and state <> 'default'),
    capture           text constraint rule_capture_plain check (capture ~ '^[a-z][a-z0-9_]{0,39}$'
                                                                and capture not in ('customer_name', 'turns')),
    check_pattern     text constraint rule_check_compiles check (check_pattern is null or shopbot.is_check_pattern(check_pattern)),
    response_template text not null constraint rule_response_sendable check (char_length(response_template) between 1 and 3000),
    re_ask_template   text constraint rule_re_ask_sendable check (char_length(re_ask_template) between 1 and 3000),
    buttons           jsonb not null default '[]' constraint rule_buttons_readable check (shopbot.is_quick_replies(buttons)),
    next_state        text constraint rule_next_state_plain check (next_state ~ '^[a-z][a-z0-9_]{0,49}$'),
    created_at        timestamptz not null default platform.now(),
    primary key (workspace_id, rule_id, version),
    constraint rule_has_keywords_or_captures_all check (cardinality(keywords) > 0 or capture is not null),
    constraint rule_captures_only_in_a_state check (capture is null or state is not null),
    constraint rule_checks_only_what_it_captures check (check_pattern is null or capture is not null),
    constraint rule_asks_again_iff_it_checks check ((check_pattern is null) = (re_ask_template is null))
);
comment on table shopbot.bot_rules is 'What the bot answers to what. A version never changes: save a new one, and conversations under way finish on theirs.';
comment on column shopbot.bot_rules.keywords is 'The keywords of the pattern as they are compared.';
comment on column shopbot.bot_rules.state is 'The rule is for chats in this state; null: for any time.';
comment on column shopbot.bot_rules.capture is 'The text of the customer is kept under this name. Without keywords the rule takes anything.';
comment on column shopbot.bot_rules.check_pattern is 'What is captured has to match this regular expression; otherwise re_ask_template is the answer.';
create unique index rule_is_enabled_once on shopbot.bot_rules (workspace_id, rule_id) where enabled;

-- After, because a WHEN clause before an update cannot look at a generated column.
create trigger rule_version_stays after update on shopbot.bot_rules for each row
    when ((to_jsonb(old) - 'enabled') is distinct from (to_jsonb(new) - 'enabled')) execute function platform.refuse_change();
create trigger rule_is_history before delete on shopbot.bot_rules for each row execute function platform.refuse_change();
create constraint trigger rules_fit_together after insert or update on shopbot.bot_rules deferrable initially deferred
    for each row execute function shopbot.check_changed_rules();

select platform.protect('shopbot.bot_rules');
