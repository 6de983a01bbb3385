-- What forgetting, late updates and retries need to know.

-- It takes the documents that were made without a message, too.
drop function if exists knowledge.forget_messages(uuid, bigint[], text, bigint, text);
