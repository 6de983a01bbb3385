-- What modules tell the outside. The migration of a module adds its own types.
create table ops.event_types (
    event_type text primary key constraint event_type_has_two_words check (event_type ~ '^[a-z][a-z_]*\.[a-z][a-z_]*$'),
    about      text not null
);
comment on table ops.event_types is 'Every event that a subscription can ask for, and when it happens.';
insert into ops.event_types values
    ('alert.raised', 'something is wrong that a person should look at'),
    ('alert.cleared', 'what an alert was about is over'),
    ('webhook.test', 'a person asked for a test; it goes to one subscription and ignores its filter');

create table core.webhook_subscriptions (
    workspace_id     uuid not null references core.workspaces,
    subscription_id  uuid not null default platform.new_id(),
    name             text not null constraint subscription_name_short check (char_length(name) between 1 and 100),
    url              text not null
                     constraint subscription_url_is_http check (url ~ '^https?://' and octet_length(url) <= 2048),
    secret_ref       text not null
                     constraint subscription_secret_is_a_reference
                         check (secret_ref ~ '^(env|file):.+' and char_length(secret_ref) <= 1000),
    -- The secret before the last rotation signs too, until its time is over.
    old_secret_ref   text
                     constraint subscription_old_secret_is_a_reference
                         check (old_secret_ref ~ '^(env|file):.+' and char_length(old_secret_ref) <= 1000),
    old_secret_until timestamptz,
    events           text[] not null constraint subscription_events_readable check (
                         cardinality(events) between 1 and 50 and array_position(events, null) is null
                         and array_to_string(events, ' ')
                             ~ '^(\*|[a-z_]+\.(\*|[a-z_]+))( (\*|[a-z_]+\.(\*|[a-z_]+)))*$'),
    parallel_max     int not null default 4
                     constraint subscription_parallel_bounded check (parallel_max between 1 and 32),
    created_at       timestamptz not null default platform.now(),
    -- From here on what sending changes.
    status           text not null default 'active'
                     constraint subscription_status_known check (status in ('active', 'paused', 'disabled')),
    stopped_at       timestamptz,
    stopped_why      text constraint subscription_reason_short check (char_length(stopped_why) <= 500),
    failures         int not null default 0 constraint subscription_failures_not_negative check (failures >= 0),
    failing_since    timestamptz,
    closed_until     timestamptz,
    delivered        bigint not null default 0,
    delivered_at     timestamptz,
    primary key (workspace_id, subscription_id),
    constraint subscription_name_is_unique unique (workspace_id, name),
    constraint subscription_rotation_has_an_end check ((old_secret_ref is null) = (old_secret_until is null)),
    constraint subscription_stopped_says_why check (
        (status = 'active') = (stopped_at is null) and (stopped_at is null) = (stopped_why is null)),
    constraint subscription_failing_has_its_time check ((failures = 0) = (failing_since is null))
) with (fillfactor = 50);
comment on table core.webhook_subscriptions is
    'Who is told of events: where, signed with which secret, and of which events.';
comment on column core.webhook_subscriptions.events is 'Types as `post.sent`, all of a kind as `post.*`, or `*`.';
comment on column core.webhook_subscriptions.status is
    'A paused subscription collects deliveries and sends none; a disabled one gets none. A person enables it.';
comment on column core.webhook_subscriptions.failures is 'Attempts in a row that failed, since failing_since.';
comment on column core.webhook_subscriptions.closed_until is
    'Nothing is sent before: the receiver asked for that, or fails again and again.';

create trigger subscription_edge after update on core.webhook_subscriptions for each row
    when (old.status <> new.status and (old.status, new.status) not in (
        ('active', 'paused'), ('active', 'disabled'), ('paused', 'active'), ('paused', 'disabled'),
        ('disabled', 'active')))
    execute function platform.refuse_edge();

-- No foreign key to the subscription: the deliveries of one that was removed stay as its log until retention takes
-- them.
create table ops.webhook_deliveries (
    workspace_id     uuid not null,
    delivery_id      uuid not null default platform.new_id(),
    subscription_id  uuid not null,
    event_id         uuid not null,
    event_type       text not null,
    event_key        text constraint webhook_key_short check (octet_length(event_key) <= 2000),
    body             text not null constraint webhook_body_bounded check (octet_length(body) <= 65536),
    resend_of        uuid,
    created_at       timestamptz not null default platform.now(),
    -- From here on what changes.
    status           text not null default 'queued'
                     constraint webhook_status_known
                         check (status in ('queued', 'sending', 'retry', 'delivered', 'failed', 'dead')),
    attempt          int not null default 0 constraint webhook_attempt_not_negative check (attempt >= 0),
    unknown_outcomes int not null default 0 constraint webhook_unknowns_not_negative check (unknown_outcomes >= 0),
    next_attempt_at  timestamptz not null default platform.now(),
    claim_token      text,
    claimed_until    timestamptz,
    ended_at         timestamptz,
    last_status      int,
    last_ms          int,
    last_answer      text constraint webhook_answer_short check (char_length(last_answer) <= 500),
    last_error       text constraint webhook_error_short check (char_length(last_error) <= 500),
    primary key (workspace_id, delivery_id),
    constraint webhook_sending_iff_claimed check ((status = 'sending') = (claim_token is not null)),
    constraint webhook_claim_has_a_deadline check ((claim_token is null) = (claimed_until is null)),
    constraint webhook_ended_has_its_time check ((status in ('delivered', 'failed', 'dead')) = (ended_at is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table ops.webhook_deliveries is
    'One event for one subscription: written with the change that it tells of, sent under a lease.';
comment on column ops.webhook_deliveries.event_id is
    'The header webhook-id: the same for every subscription and every attempt.';
comment on column ops.webhook_deliveries.event_key is
    'What happened, where it must be told once however often it is emitted.';
comment on column ops.webhook_deliveries.body is 'Exactly what is signed and sent.';
comment on column ops.webhook_deliveries.resend_of is
    'The delivery that a person asked for again. This one has a webhook-id of its own.';
comment on column ops.webhook_deliveries.unknown_outcomes is
    'Attempts whose end could not be read: at most so many copies may have arrived beside the first.';
comment on column ops.webhook_deliveries.last_answer is 'The beginning of the last answer, redacted.';
create index webhook_deliveries_due
    on ops.webhook_deliveries (workspace_id, subscription_id, next_attempt_at, delivery_id)
    where status in ('queued', 'retry');
create index webhook_deliveries_sending on ops.webhook_deliveries (workspace_id, subscription_id, claimed_until)
    where status = 'sending';
create index webhook_deliveries_by_subscription on ops.webhook_deliveries (workspace_id, subscription_id, delivery_id);
create unique index webhook_event_is_told_once on ops.webhook_deliveries (workspace_id, subscription_id, event_key)
    where event_key is not null;
-- Retention looks over all workspaces.
create index webhook_deliveries_by_time on ops.webhook_deliveries (created_at);

-- The third line: the end of a subscription, and what waited for too long. The last line: a success that comes after
-- the lease was lost is still a success.
create trigger webhook_edge after update on ops.webhook_deliveries for each row
    when (old.status <> new.status and (old.status, new.status) not in (
        ('queued', 'sending'), ('retry', 'sending'), ('sending', 'delivered'), ('sending', 'retry'),
        ('sending', 'dead'), ('sending', 'failed'),
        ('queued', 'failed'), ('retry', 'failed'), ('queued', 'dead'), ('retry', 'dead'),
        ('retry', 'delivered'), ('dead', 'delivered')))
    execute function platform.refuse_edge();

create table ops.webhook_attempts (
    workspace_id    uuid not null,
    ts              timestamptz not null default platform.now(),
    delivery_id     uuid not null,
    attempt         int not null,
    subscription_id uuid not null,
    outcome         text not null constraint attempt_outcome_known check (
                        outcome in ('delivered', 'retry', 'dead', 'failed', 'late', 'lease_expired',
                                    'possible_duplicate')),
    status          int,
    ms              int,
    answer          text,
    error           text,
    primary key (workspace_id, ts, delivery_id, attempt, outcome)
) partition by range (ts);
comment on table ops.webhook_attempts is
    'Every attempt at a delivery: the status, the time it took and the beginning of the answer, redacted.';
create index webhook_attempts_by_delivery on ops.webhook_attempts (workspace_id, delivery_id, attempt);
create table ops.webhook_attempts_default partition of ops.webhook_attempts default;
insert into platform.journals values ('ops.webhook_attempts', 'week', '30 days');

select platform.append_only('ops.webhook_attempts');
select platform.protect('core.webhook_subscriptions'), platform.protect('ops.webhook_deliveries'),
       platform.protect('ops.webhook_attempts');
