-- What forgetting, late updates and retries need to know.

-- It takes the documents that were made without a message, too.
drop function if exists knowledge.forget_messages(uuid, bigint[], text, bigint, text);

-- From a supergroup to the groups that it was.
create index chats_by_supergroup on tg.chats (workspace_id, migrated_to) where migrated_to is not null;

-- Which of two versions of one second was said last. Exports number nothing that could be compared.
alter table tg.message_versions add column is_edit boolean not null default false, add column update_id bigint;
comment on column tg.message_versions.update_id is 'Of the update that brought it: Telegram numbers them in their order.';
update tg.message_versions set is_edit = true where payload ? 'edit_date';

-- Which message an update tells of, answers and is about: forgetting looks for them. Numeric, because an update is stored
-- with any number in it.
alter table raw.telegram_updates
    add column message_id numeric generated always as (
        jsonb_path_query_first(body, '$.*.message_id ? (@.type() == "number")')::numeric) stored,
    add column reply_to_message_id numeric generated always as (
        jsonb_path_query_first(body, '$.*.reply_to_message.message_id ? (@.type() == "number")')::numeric) stored,
    add column subject_message_id numeric generated always as (coalesce(
        jsonb_path_query_first(body, '$.*.pinned_message.message_id ? (@.type() == "number")')::numeric,
        jsonb_path_query_first(body, '$.*.*.checklist_message.message_id ? (@.type() == "number")')::numeric)) stored;
comment on column raw.telegram_updates.subject_message_id is
    'Of a service message: the message that it is about, which it repeats.';
create index raw_updates_by_message on raw.telegram_updates (workspace_id, chat_id, message_id)
    where message_id is not null;
create index raw_updates_by_answered on raw.telegram_updates (workspace_id, chat_id, reply_to_message_id)
    where reply_to_message_id is not null;
create index raw_updates_by_subject on raw.telegram_updates (workspace_id, chat_id, subject_message_id)
    where subject_message_id is not null;

-- Whether it is a command for a bot, as the program read it: a path like /etc/hosts is not.
alter table tg.message_versions add column is_command boolean not null default false;
update tg.message_versions set is_command = true where normalized_text ~ '^/[a-zA-Z0-9_]{1,32}(@[^\s]*)?(\s|$)';

-- Telegram may number updates anew, and lower, after a week without one: an offset is only for what was just stored.
alter table core.bot_transport_state add column stored_at timestamptz;
comment on column core.bot_transport_state.stored_at is 'When last_update_id was stored by polling.';

-- A command that comes late, or again, does not undo a later one.
alter table core.tenant_chats add column last_command_id int;
comment on column core.tenant_chats.last_command_id is
    'The message of the last /register or /unregister that was obeyed: messages of a chat are numbered in their order.';

-- When what is known of a chat or topic was true: an update that comes late does not overwrite it.
alter table tg.chats add column told_at timestamptz;
alter table tg.topics add column named_at timestamptz, add column state_at timestamptz;

-- A pin may come before its message.
alter table tg.messages add column pins_message_id int;
comment on column tg.messages.pins_message_id is 'Of a service message: the message that it pins.';
create index messages_by_pinned on tg.messages (workspace_id, chat_id, pins_message_id) where pins_message_id is not null;

-- A page that was forgotten: the subject is a number made from its address, so that the address is not kept.
alter table tg.forgotten drop constraint forgotten_kind_known,
    add constraint forgotten_kind_known check (kind in ('message', 'chat', 'person', 'url'));
