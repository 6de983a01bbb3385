create table actions.chats (
    workspace_id uuid not null references core.workspaces,
    chat_id      text not null constraint chat_id_plain check (actions.is_id(chat_id)),
    number       bigint generated always as identity,
    -- Given out while the chat is held, so its messages become visible in their order and without holes.
    last_seq     bigint not null default 0,
    created_at   timestamptz not null default platform.now(),
    active_at    timestamptz not null default platform.now(),
    primary key (workspace_id, chat_id)
) with (fillfactor = 70);
comment on table actions.chats is 'Places where people and bots talk. A chat begins with its first message or action.';
comment on column actions.chats.active_at is 'When the last message came, or the chat began.';
create index chats_by_activity on actions.chats (workspace_id, active_at desc, number desc);

create table actions.messages (
    workspace_id uuid not null,
    chat_id      text not null,
    seq          bigint not null constraint message_seq_positive check (seq > 0),
    message_id   text not null constraint message_id_plain check (actions.is_id(message_id)),
    role         text not null constraint message_role_known check (role in ('user', 'bot', 'system')),
    text         text not null constraint message_text_bounded check (char_length(text) between 1 and 8000),
    metadata     jsonb constraint message_metadata_is_a_bounded_object check (
                     jsonb_typeof(metadata) = 'object' and pg_column_size(metadata) <= 16384),
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, chat_id, seq),
    constraint message_id_is_used_once_in_its_chat unique (workspace_id, chat_id, message_id),
    constraint message_is_in_a_chat foreign key (workspace_id, chat_id) references actions.chats
);
comment on table actions.messages is 'What was said in a chat, in order. Never changed.';
comment on column actions.messages.message_id is 'Chosen by whoever sends, so that sending again changes nothing.';
create index messages_by_time on actions.messages (workspace_id, created_at);

select platform.protect('actions.chats'), platform.protect('actions.messages');
