-- What the bot is to say in a chat. Guarantee: one reply for one key of a bot, however often it is asked for.
create or replace function knowledge.put_reply(
    p_workspace_id uuid, p_bot_id uuid, p_dedup_key text, p_chat_id bigint, p_thread_id int, p_reply_to int, p_text text
) returns void language sql as $$
    insert into knowledge.replies (workspace_id, bot_id, dedup_key, chat_id, thread_id, reply_to_message_id, text)
    values (p_workspace_id, p_bot_id, p_dedup_key, p_chat_id, p_thread_id, p_reply_to, left(p_text, 4096))
    on conflict on constraint reply_is_made_once do nothing
$$;
