-- The index of words: for each chunk its terms (stems and pieces of words) with what each adds to a score, and how many
-- chunks of the workspace have a term. And what was asked, found and answered.
create table kg.chunk_terms (
    workspace_id uuid not null,
    chunk_id     bigint not null,
    chat_id      bigint not null,
    weights      sparsevec(1000000000) not null,
    primary key (workspace_id, chunk_id),
    foreign key (workspace_id, chunk_id) references kg.chunks on delete cascade
);
-- Read for every candidate: compressing it would cost more than the page.
alter table kg.chunk_terms alter column weights set storage external;
comment on table kg.chunk_terms is
    'The words of a chunk as numbers. The inner product with the weights of a question is the BM25 score of the chunk.';
comment on column kg.chunk_terms.chat_id is 'The audience: the chat of the document. A private chat has the id of its person.';
create index chunk_terms_lookup on kg.chunk_terms using gin (knowledge.lookup_terms(chat_id, weights))
    with (gin_pending_list_limit = 512);
create index chunk_terms_by_chat on kg.chunk_terms (workspace_id, chat_id);

create table kg.term_changes (
    workspace_id uuid not null,
    id           bigint generated always as identity,
    terms        int[] not null,
    delta        smallint not null constraint term_change_adds_or_removes check (delta in (1, -1)),
    primary key (workspace_id, id)
);
comment on table kg.term_changes is
    'Chunks that came and went and are not counted yet. Counting at once would make every two chunks wait for their common words.';

create table kg.term_frequencies (
    workspace_id uuid not null references core.workspaces,
    term         int not null,
    chunks       bigint not null constraint term_is_in_some_chunk check (chunks > 0),
    primary key (workspace_id, term)
);
comment on table kg.term_frequencies is 'In how many chunks of the workspace a term is. Term 0 is in all of them: it counts the chunks.';

-- What a model is worth beside the words, and the index of those that are worth anything.
alter table kg.embedding_models
    add column search_weight float8 not null default 0 constraint search_weight_is_a_share check (search_weight between 0 and 1);
comment on column kg.embedding_models.search_weight is
    'How much of a score is the vector''s, the rest is the words''. 0: the vectors of this model are not searched.';
alter table kg.chunk_embeddings_1536 add column is_ranked boolean not null default false;
comment on column kg.chunk_embeddings_1536.is_ranked is 'Whether its model is searched: the index has only such vectors.';
create index embeddings_nearest on kg.chunk_embeddings_1536 using hnsw (embedding halfvec_ip_ops) where is_ranked;

create table audit.qa_sessions (
    workspace_id uuid not null references core.workspaces,
    id           uuid not null default platform.new_id(),
    tg_user_id   bigint not null,
    channel      core.visibility_scope not null,
    chat_id      bigint not null,
    started_at   timestamptz not null default platform.now(),
    last_at      timestamptz not null default platform.now(),
    meta         jsonb not null default '{}',
    primary key (workspace_id, id)
);
comment on table audit.qa_sessions is 'Questions of one person in one chat, until nothing was asked for half an hour.';
create index qa_sessions_by_person on audit.qa_sessions (workspace_id, tg_user_id, channel, chat_id, last_at desc);
create index qa_sessions_by_time on audit.qa_sessions (last_at);

create table audit.qa_turns (
    workspace_id        uuid not null,
    id                  bigint generated always as identity,
    session_id          uuid not null,
    created_at          timestamptz not null default platform.now(),
    bot_id              uuid,
    tg_user_id          bigint not null,
    channel             core.visibility_scope not null,
    chat_id             bigint not null,
    question            text not null constraint question_bounded check (char_length(question) between 1 and 4096),
    question_message_fk bigint,
    question_message_version_id bigint,
    -- Whether what was asked may itself answer a later question: a note in a private chat may, a question may not.
    question_is_source  boolean not null default false,
    status              text not null default 'asked'
                        constraint turn_status_known check (status in ('asked', 'answered', 'refused', 'failed')),
    audience            bigint[] not null default '{}',
    candidates          jsonb not null default '[]',
    share               real,
    answer_text         text,
    answered_by         text,
    model               text,
    input_tokens        bigint,
    output_tokens       bigint,
    took_ms             int,
    answered_at         timestamptz,
    is_useful           boolean,
    pressed_by          bigint,
    thread_id           int,
    reply_to_message_id int,
    trace_id            text,
    primary key (workspace_id, id),
    constraint question_is_answered_once unique (workspace_id, question_message_version_id),
    constraint turn_ended_iff_it_has_an_answer check ((status = 'asked') = (answer_text is null)),
    foreign key (workspace_id, session_id) references audit.qa_sessions on delete cascade,
    foreign key (workspace_id, question_message_fk) references tg.messages on delete cascade
);
comment on table audit.qa_turns is 'A question, what its audience could see of an answer, and what was said. Goes with its question.';
comment on column audit.qa_turns.candidates is 'The best chunks that were found, with the score of each leg.';
comment on column audit.qa_turns.share is 'The best score, as a share of the best that the question could get.';
comment on column audit.qa_turns.answered_by is 'sentences, or the provider of the model.';
create index qa_turns_by_session on audit.qa_turns (workspace_id, session_id, id desc);
create index qa_turns_by_message on audit.qa_turns (workspace_id, question_message_fk);
create index qa_turns_by_chat on audit.qa_turns (workspace_id, chat_id, id desc);
create index qa_turns_by_person on audit.qa_turns (workspace_id, tg_user_id, created_at);
create index qa_turns_by_time on audit.qa_turns (created_at);
create trigger turn_edge before update on audit.qa_turns for each row
    when (old.status <> new.status and (old.status, new.status) not in (
        ('asked', 'answered'), ('asked', 'refused'), ('asked', 'failed')))
    execute function platform.refuse_edge();

create table audit.qa_citations (
    workspace_id uuid not null,
    turn_id      bigint not null,
    rank         int not null constraint citation_rank_positive check (rank > 0),
    chunk_id     bigint not null,
    document_id  bigint not null,
    score        real not null,
    snippet      text not null,
    source_ref   jsonb not null,
    primary key (workspace_id, turn_id, rank),
    foreign key (workspace_id, turn_id) references audit.qa_turns on delete cascade
);
comment on table audit.qa_citations is 'What an answer rests on. The chunk may be gone, or no longer visible, when it is opened.';
create index qa_citations_by_document on audit.qa_citations (workspace_id, document_id);

create index messages_by_answered on tg.messages (workspace_id, chat_id, reply_to_message_id)
    where reply_to_message_id is not null;

-- What a turn is told in: several replies, one after the other, the last with buttons.
alter table knowledge.replies
    add column turn_id bigint,
    add column part    int not null default 1 constraint reply_part_positive check (part > 0),
    add column buttons jsonb not null default '[]',
    add foreign key (workspace_id, turn_id) references audit.qa_turns on delete cascade;
create index replies_by_turn on knowledge.replies (workspace_id, turn_id, part) where turn_id is not null;
create index replies_by_message on knowledge.replies (workspace_id, chat_id, provider_message_id)
    where provider_message_id is not null;

select platform.protect(t::regclass) from unnest(array[
    'kg.chunk_terms', 'kg.term_changes', 'kg.term_frequencies', 'audit.qa_sessions', 'audit.qa_turns',
    'audit.qa_citations']) t;
