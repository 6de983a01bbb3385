-- The raw updates that tell of messages: their own (is_own), and those that answer one or are about one. The messages
-- are named by two arrays of one length.
create or replace function knowledge.raw_of_messages(p_workspace_id uuid, p_chat_ids bigint[], p_message_ids int[])
returns table (raw_id bigint, is_own boolean) language sql stable as $$
    with asked as (
        select * from unnest(p_chat_ids, p_message_ids::numeric[]) a (chat_id, message_id)
    )
    select t.id, bool_or(t.is_own) from (
        select r.id, true from asked a
          join raw.telegram_updates r on (r.workspace_id, r.chat_id, r.message_id)
                                       = (p_workspace_id, a.chat_id, a.message_id)
        union all
        select r.id, false from asked a
          join raw.telegram_updates r on (r.workspace_id, r.chat_id, r.reply_to_message_id)
                                       = (p_workspace_id, a.chat_id, a.message_id)
        union all
        select r.id, false from asked a
          join raw.telegram_updates r on (r.workspace_id, r.chat_id, r.subject_message_id)
                                       = (p_workspace_id, a.chat_id, a.message_id)) t (id, is_own)
     group by t.id
$$;
