-- The chat that a chat is now: the supergroup that a group became, or itself.
create or replace function knowledge.chat_now(p_workspace_id uuid, p_chat_id bigint) returns bigint
language sql stable as $$
    select coalesce((select c.migrated_to from tg.chats c
                      where (c.workspace_id, c.chat_id) = (p_workspace_id, p_chat_id)), p_chat_id)
$$;
