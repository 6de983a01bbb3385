-- Vectors of chunks, by model. A model fills in beside the one in use and takes its place when it is complete.
create table kg.embedding_models (
    workspace_id  uuid not null references core.workspaces,
    id            bigint generated always as identity,
    provider      text not null constraint model_provider_known check (provider in ('local', 'gemini', 'openai')),
    model         text not null constraint model_name_short check (char_length(model) between 1 and 200),
    dimensions    int not null default 1536 constraint model_has_1536_dimensions check (dimensions = 1536),
    document_task text,
    query_task    text,
    is_normalised boolean not null default true,
    state         text not null constraint model_state_known check (state in ('filling', 'active', 'retired')),
    created_at    timestamptz not null default platform.now(),
    switched_at   timestamptz,
    primary key (workspace_id, id),
    constraint model_is_there_once unique (workspace_id, provider, model)
);
comment on table kg.embedding_models is 'The models whose vectors a workspace has. Search uses the active one and never sees one that is being filled.';
create unique index one_model_is_active on kg.embedding_models (workspace_id) where state = 'active';

create table kg.chunk_embeddings_1536 (
    workspace_id uuid not null,
    chunk_id     bigint not null,
    model_id     bigint not null,
    embedding    halfvec(1536) not null,
    index_md5    text not null,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, chunk_id, model_id),
    foreign key (workspace_id, chunk_id) references kg.chunks on delete cascade,
    foreign key (workspace_id, model_id) references kg.embedding_models on delete cascade
);
-- A vector is read whole, once for each comparison: out of line it would cost a second look each time.
alter table kg.chunk_embeddings_1536 alter column embedding set storage plain;
comment on table kg.chunk_embeddings_1536 is 'The vector of a chunk by one model, of length 1.';
comment on column kg.chunk_embeddings_1536.index_md5 is 'What it was made from. A chunk that says something else by now has none until it is embedded again.';
create index embeddings_by_model on kg.chunk_embeddings_1536 (workspace_id, model_id);

-- What the bot says in chats: sent by the outbox engine, each once.
create table knowledge.replies (
    workspace_id        uuid not null references core.workspaces,
    reply_id            uuid not null default platform.new_id(),
    bot_id              uuid not null,
    dedup_key           text not null constraint reply_key_short check (char_length(dedup_key) between 1 and 200),
    chat_id             bigint not null,
    thread_id           int,
    reply_to_message_id int,
    text                text not null constraint reply_text_bounded check (char_length(text) between 1 and 4096),
    created_at          timestamptz not null default platform.now(),
    -- From here on what sending changes.
    status              text not null default 'queued'
                        constraint reply_status_known check (status in ('queued', 'sending', 'retry', 'sent', 'dead')),
    attempt             int not null default 0 constraint reply_attempt_not_negative check (attempt >= 0),
    next_attempt_at     timestamptz not null default platform.now(),
    claim_token         text,
    claimed_until       timestamptz,
    provider_message_id text,
    last_error          jsonb,
    primary key (workspace_id, reply_id),
    constraint reply_is_made_once unique (workspace_id, bot_id, dedup_key),
    foreign key (workspace_id, bot_id) references core.bots on delete cascade,
    constraint reply_sending_iff_claimed check ((status = 'sending') = (claim_token is not null)),
    constraint reply_claim_has_a_deadline check ((claim_token is null) = (claimed_until is null))
);
comment on table knowledge.replies is 'What a knowledge bot says in a chat, and whether it has said it.';
create index replies_due on knowledge.replies (workspace_id, next_attempt_at) where status in ('queued', 'retry');
create index replies_sending on knowledge.replies (workspace_id, claimed_until) where status = 'sending';
create index replies_by_time on knowledge.replies (created_at);
create trigger reply_edge after update on knowledge.replies for each row
    when (old.status <> new.status and (old.status, new.status) not in (
        ('queued', 'sending'), ('retry', 'sending'), ('sending', 'sent'), ('sending', 'retry'), ('sending', 'dead'),
        ('retry', 'sent')))
    execute function platform.refuse_edge();

select platform.protect(t::regclass) from unnest(array[
    'kg.embedding_models', 'kg.chunk_embeddings_1536', 'knowledge.replies']) t;
