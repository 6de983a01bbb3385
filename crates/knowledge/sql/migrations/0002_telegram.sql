-- What Telegram brought, as it came (raw), and the facts that were read from it (tg).
create table raw.telegram_updates (
    workspace_id uuid not null references core.workspaces,
    id           bigint generated always as identity,
    bot_id       uuid not null,
    update_id    bigint,
    chat_id      bigint,
    received_at  timestamptz not null default platform.now(),
    body         jsonb,
    unread       bytea,
    problem      text,
    processed_at timestamptz,
    trace_id     text,
    primary key (workspace_id, id),
    foreign key (workspace_id, bot_id) references core.bots on delete cascade,
    constraint raw_update_is_json_or_bytes check (num_nonnulls(body, unread) = 1),
    constraint raw_update_unread_has_a_problem check (unread is null or problem is not null)
);
comment on table raw.telegram_updates is 'Every update that came with the right secret, whole. Expires by the policy of its chat.';
comment on column raw.telegram_updates.unread is 'What is not JSON, or cannot be stored as such.';
create index raw_updates_by_chat on raw.telegram_updates (workspace_id, chat_id, received_at);
create index raw_updates_by_bot on raw.telegram_updates (workspace_id, bot_id);
create index raw_updates_by_time on raw.telegram_updates (received_at);

create table raw.telegram_update_keys (
    workspace_id uuid not null,
    bot_id       uuid not null,
    update_id    bigint not null,
    raw_id       bigint not null,
    job_id       bigint not null,
    primary key (workspace_id, bot_id, update_id),
    foreign key (workspace_id, raw_id) references raw.telegram_updates on delete cascade
);
comment on table raw.telegram_update_keys is 'The receipt of an update: the same update_id again leads to the same job and to nothing new.';
create index update_keys_by_raw on raw.telegram_update_keys (workspace_id, raw_id);

create table tg.users (
    workspace_id  uuid not null references core.workspaces,
    tg_user_id    bigint not null,
    is_bot        boolean not null default false,
    first_name    text,
    last_name     text,
    username      text,
    language_code text,
    seen_at       timestamptz not null default platform.now(),
    primary key (workspace_id, tg_user_id)
);
create table tg.chats (
    workspace_id uuid not null references core.workspaces,
    chat_id      bigint not null,
    type         text not null,
    title        text,
    username     text,
    is_forum     boolean not null default false,
    migrated_to  bigint,
    bot_is_here  boolean not null default true,
    seen_at      timestamptz not null default platform.now(),
    primary key (workspace_id, chat_id)
);
comment on column tg.chats.migrated_to is 'The supergroup that the group became; its content moved there.';

create table tg.topics (
    workspace_id uuid not null,
    chat_id      bigint not null,
    thread_id    int not null,
    name         text,
    is_closed    boolean not null default false,
    seen_at      timestamptz not null default platform.now(),
    primary key (workspace_id, chat_id, thread_id)
);
comment on table tg.topics is 'Topics of forums.';

create table tg.messages (
    workspace_id        uuid not null references core.workspaces,
    id                  bigint generated always as identity,
    chat_id             bigint not null,
    message_id          int not null,
    kind                text not null constraint message_kind_known check (kind in ('message', 'channel_post', 'service')),
    date                timestamptz not null,
    tg_user_id          bigint,
    sender_chat_id      bigint,
    thread_id           int,
    reply_to_message_id int,
    media_group_id      text,
    forward_origin      jsonb,
    is_pinned           boolean not null default false,
    current_version_id  bigint,
    created_at          timestamptz not null default platform.now(),
    primary key (workspace_id, id),
    constraint message_is_there_once unique (workspace_id, chat_id, message_id)
);
comment on table tg.messages is 'The identity of a message; what it says is in its versions.';
create index messages_by_thread on tg.messages (workspace_id, chat_id, thread_id, message_id);
create index messages_by_sender on tg.messages (workspace_id, tg_user_id);
create index messages_by_time on tg.messages (workspace_id, chat_id, date);

create table tg.message_versions (
    workspace_id    uuid not null,
    id              bigint generated always as identity,
    message_fk      bigint not null,
    version_no      int not null constraint version_number_positive check (version_no > 0),
    said_at         timestamptz not null,
    text            text,
    caption         text,
    normalized_text text,
    entities        jsonb,
    payload         jsonb not null,
    payload_sha256  text not null,
    created_at      timestamptz not null default platform.now(),
    primary key (workspace_id, id),
    constraint version_is_there_once unique (workspace_id, message_fk, version_no),
    -- A repeated update, and one update processed twice, meet the version they made.
    constraint version_is_made_once unique (workspace_id, message_fk, said_at, payload_sha256),
    foreign key (workspace_id, message_fk) references tg.messages on delete cascade
);
comment on table tg.message_versions is
    'What a message said, each time it was said. Numbered in the order in which versions came; said_at tells which is the latest.';
comment on column tg.message_versions.said_at is 'When it was sent or edited.';

create table tg.message_links (
    workspace_id       uuid not null,
    message_version_id bigint not null,
    link_no            int not null,
    url                text not null constraint link_bounded check (octet_length(url) <= 4096),
    normalized_url     text,
    primary key (workspace_id, message_version_id, link_no),
    foreign key (workspace_id, message_version_id) references tg.message_versions on delete cascade
);
create index message_links_by_url on tg.message_links (workspace_id, normalized_url);
comment on table tg.message_links is 'The links of a version, as they were written, in their order.';
comment on column tg.message_links.normalized_url is 'Null: it is no address that can be fetched.';

create table tg.files (
    workspace_id   uuid not null references core.workspaces,
    file_unique_id text not null constraint file_unique_id_short check (char_length(file_unique_id) between 1 and 200),
    kind           text not null,
    mime           text,
    file_name      text,
    bytes          bigint,
    blob_object_id bigint,
    busy_until     timestamptz,
    seen_at        timestamptz not null default platform.now(),
    primary key (workspace_id, file_unique_id)
);
comment on table tg.files is 'A file of Telegram, whoever shared it: downloaded once in a workspace.';
comment on column tg.files.busy_until is 'Somebody downloads it, until then: whoever else needs it comes again.';
create index files_by_blob on tg.files (workspace_id, blob_object_id);

create table tg.file_instances (
    workspace_id   uuid not null,
    bot_id         uuid not null,
    file_id        text not null constraint file_id_short check (char_length(file_id) between 1 and 500),
    file_unique_id text not null,
    tg_file_path   text,
    last_seen_at   timestamptz not null default platform.now(),
    primary key (workspace_id, bot_id, file_id),
    foreign key (workspace_id, file_unique_id) references tg.files on delete cascade,
    foreign key (workspace_id, bot_id) references core.bots on delete cascade
);
comment on table tg.file_instances is 'The names by which a bot can ask for a file: a file_id is valid for one bot only.';
create index file_instances_by_file on tg.file_instances (workspace_id, file_unique_id);

create table tg.message_attachments (
    workspace_id       uuid not null,
    id                 bigint generated always as identity,
    message_version_id bigint not null,
    position           int not null,
    kind               text not null,
    file_unique_id     text not null,
    details            jsonb not null default '{}',
    primary key (workspace_id, id),
    constraint attachment_is_there_once unique (workspace_id, message_version_id, position),
    foreign key (workspace_id, message_version_id) references tg.message_versions on delete cascade,
    foreign key (workspace_id, file_unique_id) references tg.files
);
create index attachments_by_file on tg.message_attachments (workspace_id, file_unique_id);

create table tg.chat_member_events (
    workspace_id uuid not null,
    id           bigint generated always as identity,
    chat_id      bigint not null,
    tg_user_id   bigint not null,
    status       text not null,
    is_member    boolean not null,
    at           timestamptz not null,
    source       text not null,
    primary key (workspace_id, id),
    constraint member_event_is_there_once unique (workspace_id, chat_id, tg_user_id, at, status, source)
);
comment on table tg.chat_member_events is 'Who came and went, as Telegram told it.';

create table tg.chat_memberships_current (
    workspace_id uuid not null,
    chat_id      bigint not null,
    tg_user_id   bigint not null,
    status       text not null,
    is_member    boolean not null,
    changed_at   timestamptz not null,
    proved_at    timestamptz not null,
    primary key (workspace_id, chat_id, tg_user_id)
);
comment on table tg.chat_memberships_current is 'Who is a member now. The latest event decides, whatever the order in which events came.';
comment on column tg.chat_memberships_current.proved_at is 'The last time that something showed it: an event, a message, getChatMember.';
create index memberships_by_user on tg.chat_memberships_current (workspace_id, tg_user_id);

create table tg.forgotten (
    workspace_id uuid not null references core.workspaces,
    kind         text not null constraint forgotten_kind_known check (kind in ('message', 'chat', 'person')),
    chat_id      bigint not null,
    subject      bigint not null,
    at           timestamptz not null default platform.now(),
    primary key (workspace_id, kind, chat_id, subject)
);
comment on table tg.forgotten is
    'What was forgotten stays so: an update that comes late, or again, does not bring it back. Numbers only, nothing that was said.';

select platform.protect(t::regclass) from unnest(array[
    'raw.telegram_updates', 'raw.telegram_update_keys', 'tg.users', 'tg.chats', 'tg.topics', 'tg.messages', 'tg.message_versions',
    'tg.message_links', 'tg.files', 'tg.file_instances', 'tg.message_attachments', 'tg.chat_member_events',
    'tg.chat_memberships_current', 'tg.forgotten']) t;
