-- What forgetting, late updates and retries need to know.

-- It takes the documents that were made without a message, too.
drop function if exists knowledge.forget_messages(uuid, bigint[], text, bigint, text);

-- From a supergroup to the groups that it was.
create index chats_by_supergroup on tg.chats (workspace_id, migrated_to) where migrated_to is not null;
