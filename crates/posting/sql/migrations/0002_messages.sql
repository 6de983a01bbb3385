create table posting.messages (
    workspace_id          uuid not null references core.workspaces,
    message_id            uuid not null default platform.new_id(),
    hash_version          int not null default 1,
    content_hash          text not null constraint message_hash_is_hex check (content_hash ~ '^[0-9a-f]{32}$'),
    normalization_version int not null default 1,
    payload               jsonb not null,
    tags                  text[] not null default '{}' constraint message_tags_canonical check (tags = posting.canonical_tags(tags)),
    source                jsonb,
    source_ref            text,
    first_seen_trace_id   text,
    first_ingest_run_id   uuid,
    last_seen_at          timestamptz not null default platform.now(),
    last_ingest_run_id    uuid,
    seen_count            bigint not null default 1,
    -- Edits and deletions are messages too; this is the post that they follow.
    of_message_id         uuid,
    created_at            timestamptz not null default platform.now(),
    primary key (workspace_id, message_id),
    constraint message_hash_version_counts check (hash_version > 0),
    foreign key (workspace_id, of_message_id) references posting.messages
) with (fillfactor = 80);
comment on table posting.messages is 'A post, stored once however many channels it goes to and however often it is sent in.';
-- Ids begin with their time, so the primary key is the order of time. Any other index that begins with the workspace could be
-- taken for a look by id by plans that were made while the table was small, and would then read every message of the workspace: the foreign
-- key of deliveries is such a look. The predicate is true of every row and keeps this one for those who name it.
create unique index message_content_once on posting.messages (workspace_id, hash_version, content_hash) where hash_version > 0;
create index messages_by_tag on posting.messages using gin (tags);
create index messages_that_follow on posting.messages (workspace_id, of_message_id) where of_message_id is not null;

create table posting.media_origin (
    workspace_id uuid not null references core.workspaces,
    blob_ref     text not null constraint blob_ref_short check (char_length(blob_ref) between 1 and 200),
    origin_url   text not null,
    sha256       text,
    content_type text,
    size_bytes   bigint constraint origin_size_not_negative check (size_bytes >= 0),
    last_seen_at timestamptz not null default platform.now(),
    ref_count    bigint not null default 0,
    -- Nobody needs the bytes any more and they are being deleted; whoever brings them again stores them anew.
    doomed_at    timestamptz,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, blob_ref)
);
comment on table posting.media_origin is 'Where the bytes of a picture or video are kept in our object storage; providers get them from here.';

create table posting.media_blobs (
    workspace_id uuid not null references core.workspaces,
    blob_ref     text not null,
    provider     text not null,
    file_id      text,
    url          text,
    expires_at   timestamptz,
    meta         jsonb,
    created_at   timestamptz not null default platform.now(),
    updated_at   timestamptz not null default platform.now(),
    primary key (workspace_id, blob_ref, provider)
);
comment on table posting.media_blobs is 'What a provider would take instead of the bytes, since it has them already.';

select platform.protect('posting.messages'), platform.protect('posting.media_origin'), platform.protect('posting.media_blobs');
