-- Documents: what was said, linked and attached, as text; and the bytes behind them.
create table content.blob_objects (
    workspace_id uuid not null references core.workspaces,
    id           bigint generated always as identity,
    sha256       text not null constraint blob_is_a_sha256 check (sha256 ~ '^[0-9a-f]{64}$'),
    bytes        bigint not null,
    mime         text,
    object_key   text not null,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, id),
    constraint blob_is_stored_once unique (workspace_id, sha256)
);
comment on table content.blob_objects is 'Bytes in object storage, once for each content of a workspace.';
alter table tg.files add foreign key (workspace_id, blob_object_id) references content.blob_objects;

create table content.object_garbage (
    workspace_id uuid not null references core.workspaces,
    object_key   text not null,
    is_dropped   boolean not null default false,
    since        timestamptz not null default platform.now(),
    primary key (workspace_id, object_key)
);
comment on table content.object_garbage is
    'Objects whose blob is gone, until they are removed from object storage (is_dropped); and objects that are being written and have no blob yet.';

create table content.urls (
    workspace_id   uuid not null references core.workspaces,
    id             bigint generated always as identity,
    normalized_url text not null constraint url_bounded check (octet_length(normalized_url) between 1 and 2048),
    busy_until     timestamptz,
    created_at     timestamptz not null default platform.now(),
    primary key (workspace_id, id),
    constraint url_is_there_once unique (workspace_id, normalized_url)
);
comment on column content.urls.busy_until is 'Somebody fetches it, until then: whoever else needs it comes again.';
create table content.url_fetches (
    workspace_id   uuid not null,
    id             bigint generated always as identity,
    url_id         bigint not null,
    fetched_at     timestamptz not null default platform.now(),
    status_code    int,
    final_url      text,
    etag           text,
    last_modified  text,
    content_type   text,
    bytes          bigint,
    blob_object_id bigint,
    error          text,
    primary key (workspace_id, id),
    foreign key (workspace_id, url_id) references content.urls on delete cascade,
    foreign key (workspace_id, blob_object_id) references content.blob_objects
);
comment on table content.url_fetches is 'Every attempt at a page, and what came of it.';
create index url_fetches_by_url on content.url_fetches (workspace_id, url_id, id desc);
create index url_fetches_by_blob on content.url_fetches (workspace_id, blob_object_id);

create table content.documents (
    workspace_id       uuid not null references core.workspaces,
    id                 bigint generated always as identity,
    doc_type           text not null constraint document_type_known check (doc_type in ('message', 'url', 'file')),
    visibility         core.visibility_scope not null,
    chat_id            bigint not null,
    dm_owner_user_id   bigint,
    message_fk         bigint,
    message_version_id bigint,
    url_id             bigint,
    file_unique_id     text,
    blob_object_id     bigint,
    title              text,
    author             text,
    doc_date           text,
    language           text,
    mime               text,
    text               text,
    text_sha256        text,
    token_count        int,
    marks              jsonb not null default '[]',
    status             text not null default 'pending' constraint document_status_known check (status in ('pending', 'done', 'error')),
    error              text,
    version            int not null default 1,
    created_at         timestamptz not null default platform.now(),
    updated_at         timestamptz not null default platform.now(),
    primary key (workspace_id, id),
    constraint document_is_private_iff_it_has_an_owner check ((visibility = 'dm') = (dm_owner_user_id is not null)),
    constraint document_has_one_subject check (
        (doc_type = 'message') = (message_fk is not null) and (doc_type = 'url') = (url_id is not null)
        and (doc_type = 'file') = (file_unique_id is not null)),
    constraint document_done_iff_text check (status <> 'done' or (text is not null and error is null)),
    constraint document_error_has_a_reason check (status <> 'error' or error is not null),
    -- The audience of a document is its chat: the same page in two chats is two documents, so that what one chat forgets the
    -- other keeps, and no audience is ever widened.
    constraint document_of_a_message_once unique (workspace_id, message_fk),
    constraint document_of_a_url_once unique (workspace_id, url_id, chat_id),
    constraint document_of_a_file_once unique (workspace_id, file_unique_id, chat_id),
    foreign key (workspace_id, message_fk) references tg.messages on delete cascade,
    foreign key (workspace_id, url_id) references content.urls,
    foreign key (workspace_id, file_unique_id) references tg.files,
    foreign key (workspace_id, blob_object_id) references content.blob_objects
);
comment on table content.documents is 'What can be found: a message, a page or a file, for one audience.';
comment on column content.documents.version is 'Grows with each change of the text. Chunks carry the version that they were cut from.';
comment on column content.documents.error is 'Why there is no text, or what a pending document waits for, in words for people.';
create index documents_by_chat on content.documents (workspace_id, chat_id, id);
create index documents_by_owner on content.documents (workspace_id, dm_owner_user_id) where dm_owner_user_id is not null;
create index documents_by_blob on content.documents (workspace_id, blob_object_id);

create table content.document_sources (
    workspace_id uuid not null,
    document_id  bigint not null,
    message_fk   bigint not null,
    primary key (workspace_id, document_id, message_fk),
    foreign key (workspace_id, document_id) references content.documents on delete cascade,
    foreign key (workspace_id, message_fk) references tg.messages on delete cascade
);
comment on table content.document_sources is 'The messages that share a page or a file: the document goes with the last of them.';
create index document_sources_by_message on content.document_sources (workspace_id, message_fk);

create table kg.chunks (
    workspace_id uuid not null,
    id           bigint generated always as identity,
    document_id  bigint not null,
    chunk_no     int not null constraint chunk_number_not_negative check (chunk_no >= 0),
    text         text not null constraint chunk_has_text check (text <> ''),
    context      text not null default '',
    text_sha256  text not null,
    start_char   int not null,
    end_char     int not null,
    mark         jsonb,
    version      int not null,
    index_md5    text not null generated always as (md5(context || E'\n' || text)) stored,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, id),
    constraint chunk_is_there_once unique (workspace_id, document_id, chunk_no),
    constraint chunk_has_a_place check (start_char >= 0 and end_char > start_char),
    foreign key (workspace_id, document_id) references content.documents on delete cascade
);
comment on table kg.chunks is 'Pieces of documents: what is found and cited.';
comment on column kg.chunks.context is 'Facts of the document (title, chat, author, date) that are indexed with the text and are not part of it.';
comment on column kg.chunks.index_md5 is 'Of everything that is indexed. A vector carries the one that it was made from.';
comment on column kg.chunks.mark is 'The page, slide or sheet where it begins.';

create table audit.forgettings (
    workspace_id uuid not null,
    id           bigint generated always as identity,
    ts           timestamptz not null default platform.now(),
    kind         text not null constraint forgetting_kind_known check (kind in ('message', 'chat', 'person', 'url', 'retention')),
    chat_id      bigint,
    asked_by     text,
    counts       jsonb not null,
    primary key (workspace_id, id)
);
comment on table audit.forgettings is 'That something was forgotten, by whom and how much of it; never what it was.';
create index forgettings_by_time on audit.forgettings (ts);
select platform.append_only('audit.forgettings');

select platform.protect(t::regclass) from unnest(array[
    'content.blob_objects', 'content.object_garbage', 'content.urls', 'content.url_fetches', 'content.documents',
    'content.document_sources', 'kg.chunks', 'audit.forgettings']) t;
