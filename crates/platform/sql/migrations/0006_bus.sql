-- A position is (xid, id). Numbers from a sequence become visible out of order, so a reader that remembers
-- the last id it saw would skip a late commit; the transaction id lets it read only behind the oldest
-- transaction that is still running, where nothing new can appear.
create sequence bus.message_id;
create table bus.messages (
    workspace_id uuid not null,
    topic        text not null constraint topic_short check (char_length(topic) between 1 and 200),
    xid          xid8 not null default pg_current_xact_id(),
    id           bigint not null default nextval('bus.message_id'),
    ts           timestamptz not null default platform.now(),
    payload      jsonb not null constraint message_bounded check (pg_column_size(payload) <= 65536),
    primary key (workspace_id, topic, xid, id, ts)
) partition by range (ts);
alter sequence bus.message_id owned by bus.messages.id;
comment on table bus.messages is 'What modules told whoever watches. The table is the truth; a notification is only a wake-up.';
create index messages_in_order on bus.messages (xid, id);
create table bus.messages_default partition of bus.messages default;
insert into platform.journals values ('bus.messages', 'day', '2 days');

create table bus.forgotten (
    id  boolean primary key default true constraint only_one_row check (id),
    xid xid8 not null
);
comment on table bus.forgotten is 'Positions up to this transaction may have been removed by retention: a subscriber that resumes before it is told so.';
insert into bus.forgotten (xid) values ('0');

select platform.append_only('bus.messages');
select platform.protect('bus.messages');
