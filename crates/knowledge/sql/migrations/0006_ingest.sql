-- What forgetting, late updates and retries need to know.

-- It takes the documents that were made without a message, too.
drop function if exists knowledge.forget_messages(uuid, bigint[], text, bigint, text);

-- From a supergroup to the groups that it was.
create index chats_by_supergroup on tg.chats (workspace_id, migrated_to) where migrated_to is not null;

-- Which of two versions of one second was said last. Exports number nothing that could be compared.
alter table tg.message_versions add column is_edit boolean not null default false, add column update_id bigint;
comment on column tg.message_versions.update_id is 'Of the update that brought it: Telegram numbers them in their order.';
update tg.message_versions set is_edit = true where payload ? 'edit_date';
