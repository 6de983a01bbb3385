-- The life of a delivery costs what its indexes cost. `phase` is the same for every status in which a delivery is
-- under way, and only `phase` is in indexes and their predicates: so a claim and a start of sending are heap-only
-- updates, and a delivery meets the indexes twice in its life, when it is made and when it ends.
create table posting.deliveries (
    workspace_id        uuid not null,
    delivery_id         uuid not null default platform.new_id(),
    message_id          uuid not null,
    hash_version        int not null default 1,
    content_hash        text not null,
    channel_id          text not null,
    created_at          timestamptz not null default platform.now(),
    scheduled_for       timestamptz,
    -- What is done to the channel, and for an edit or a deletion, to which earlier delivery.
    operation           text not null default 'send' constraint delivery_operation_known check (operation in ('send', 'edit', 'delete')),
    of_delivery_id      uuid,
    rendered_text       text,
    render_meta         jsonb not null default '{}',
    template_version    text,
    trace_id            text,
    -- From here on what changes. Together and at the end, because the log of an update is cut to where the two
    -- versions of a row differ.
    phase               text not null generated always as (
                            case when status in ('queued', 'claimed', 'sending', 'retry') then 'inflight' else status end) stored,
    status              text not null default 'queued'
                        constraint delivery_status_known check (
                            status in ('queued', 'claimed', 'sending', 'sent', 'retry', 'deduped', 'failed_permanent', 'dead')),
    attempt             int not null default 0 constraint delivery_attempt_not_negative check (attempt >= 0),
    not_before          timestamptz not null default platform.now(),
    next_retry_at       timestamptz,
    claimed_at          timestamptz,
    claim_token         text,
    sending_started_at  timestamptz,
    provider_message_id text,
    sent_at             timestamptz,
    last_error          jsonb,
    updated_at          timestamptz not null default platform.now(),
    primary key (workspace_id, delivery_id),
    foreign key (workspace_id, channel_id) references posting.channels,
    foreign key (workspace_id, message_id) references posting.messages,
    constraint delivery_sent_has_its_time check (status <> 'sent' or sent_at is not null),
    constraint delivery_follows_iff_not_a_send check ((operation = 'send') = (of_delivery_id is null))
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table posting.deliveries is 'One post in one channel: its state, its attempts and when it is due. The content is in posting.messages.';
comment on column posting.deliveries.phase is 'inflight while anything may still happen, else the status: what the indexes see.';

-- The queue of each channel, oldest first.
create index deliveries_inflight on posting.deliveries (workspace_id, channel_id, created_at, delivery_id) where phase = 'inflight';
-- The copies of a post, which is what dedup looks for: a content is one message. The message first, so that nobody takes this
-- index for a look by delivery.
create index deliveries_by_message on posting.deliveries (message_id, workspace_id);
-- What went wrong, for people and for the monitor.
create index deliveries_failed on posting.deliveries (workspace_id, phase, created_at, delivery_id)
    where phase in ('failed_permanent', 'dead');
create index deliveries_that_follow on posting.deliveries (of_delivery_id, workspace_id) where of_delivery_id is not null;

-- The edges of the specification. `* -> dead` is every status in which an attempt could still be made; the last line
-- is the manual requeue of the runbook. A new row may begin where enqueue puts it.
create trigger delivery_edge after update on posting.deliveries for each row
    when (old.status <> new.status and (old.status, new.status) not in (
        ('queued', 'claimed'), ('retry', 'claimed'), ('claimed', 'sending'), ('sending', 'sent'),
        ('claimed', 'queued'), ('claimed', 'retry'), ('sending', 'retry'),
        ('queued', 'failed_permanent'), ('retry', 'failed_permanent'), ('sending', 'failed_permanent'),
        ('queued', 'deduped'), ('retry', 'deduped'),
        ('queued', 'dead'), ('claimed', 'dead'), ('sending', 'dead'), ('retry', 'dead'),
        ('dead', 'retry'), ('failed_permanent', 'retry')))
    execute function platform.refuse_edge();

select platform.protect('posting.deliveries');

-- What is older than the head of its queue when it comes takes the head away: a delivery that is brought back, and one that is made
-- by a transaction which began a while ago.
create trigger delivery_brought_back after update on posting.deliveries for each row
    when (old.phase <> 'inflight' and new.phase = 'inflight') execute function posting.drop_head();
create trigger delivery_made_late after insert on posting.deliveries for each row
    when (new.phase = 'inflight' and new.created_at < clock_timestamp() - interval '0.9 seconds') execute function posting.drop_head();

create type posting.sendings as (
    workspace_id uuid, delivery_id uuid, message_id uuid, channel_id text, attempt int, claim_token text, operation text,
    rendered_text text, render_meta jsonb, trace_id text, platform text, target_id text, auth_ref text, media jsonb, follows jsonb
);
comment on type posting.sendings is 'A delivery that is being sent, with everything an adapter needs.';

-- Not logged: after a crash the queues are looked at from their beginning once more.
create unlogged table posting.queue_heads (
    workspace_id uuid not null,
    channel_id   text not null,
    head_at      timestamptz not null default '-infinity',
    -- The next head, good as soon as every transaction before this one has ended: what they still add is seen then.
    next_at      timestamptz,
    next_xid     xid8,
    -- Changes when the head is taken away, so that a look which began before does not put it back.
    drops        int not null default 0,
    primary key (workspace_id, channel_id)
) with (fillfactor = 50);
comment on table posting.queue_heads is 'No delivery under way in this channel is older than this: see posting.find_heads.';
select platform.protect('posting.queue_heads');
grant truncate on posting.queue_heads to beresta_system;

-- Which dispatchers are alive. What a silent one had claimed and not begun to send goes back within seconds; what it was
-- sending may have arrived and waits for its lease.
create table posting.dispatchers (
    name    text primary key,
    seen_at timestamptz not null
);
comment on table posting.dispatchers is 'Dispatchers that run now; the first part of a claim token is a name here.';
