-- The name of who wrote a message: the person, or the chat that it was sent for.
create or replace function knowledge.author_of(p_workspace_id uuid, p_message tg.messages) returns text
language sql stable as $$
    select coalesce(
        (select c.title from tg.chats c where (c.workspace_id, c.chat_id) = (p_workspace_id, p_message.sender_chat_id)),
        (select nullif(trim(concat_ws(' ', u.first_name, u.last_name)), '') from tg.users u
          where (u.workspace_id, u.tg_user_id) = (p_workspace_id, p_message.tg_user_id)))
$$;
