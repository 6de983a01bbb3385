create table posting.events (
    workspace_id uuid not null,
    id           uuid not null default gen_random_uuid(),
    delivery_id  uuid,
    message_id   uuid,
    channel_id   text,
    ts           timestamptz not null default platform.now(),
    action       text not null constraint event_action_known check (action in (
                     'enqueue', 'validation_failed', 'send_attempt', 'sent', 'retry_scheduled', 'dedup_suppressed',
                     'failed_permanent', 'dead_letter', 'channel_paused', 'channel_disabled', 'channel_enabled',
                     'message_tag_mismatch', 'sending_lease_expired', 'claimed_lease_expired', 'manual_requeue', 'auth_rotated',
                     'ingress_rate_limited', 'ingress_payload_rejected', 'ingress_dedup_dropped',
                     -- Beyond the specification: what it leaves open.
                     'possible_duplicate', 'manual_settle', 'key_closed', 'channel_migrated', 'withdrawn', 'raw_read')),
    attempt      int not null default 0,
    result       text not null constraint event_result_known check (result in ('ok', 'error')),
    error        jsonb,
    payload_ref  text,
    meta         jsonb not null default '{}',
    primary key (workspace_id, ts, id)
) partition by range (ts);
comment on table posting.events is 'What happened to every post and channel, and why. Never changed; forgotten by the day after 30 days.';
-- The primary key, read backwards, is the index on (workspace_id, ts). Three actions make up almost every row
-- of a healthy system and are as near by time as by name, so only the others are indexed by name, and only errors
-- by result; the events of a post's deliveries are found by delivery, so only the others are indexed by message: three index
-- entries for each event instead of seven.
create index events_by_action on posting.events (workspace_id, action, ts) where action not in ('enqueue', 'send_attempt', 'sent');
create index events_of_errors on posting.events (workspace_id, result, ts) where result = 'error';
create index events_by_delivery on posting.events (workspace_id, delivery_id, ts) where delivery_id is not null;
create index events_by_message on posting.events (workspace_id, message_id, ts) where message_id is not null and delivery_id is null;
create index events_by_channel on posting.events (workspace_id, channel_id, ts) where channel_id is not null;
create table posting.events_default partition of posting.events default;
insert into platform.journals values ('posting.events', 'day', '30 days');

select platform.append_only('posting.events');
select platform.protect('posting.events');
