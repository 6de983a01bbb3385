-- What stands around chunks that were found, for one who reads them: the message that a message answers, replies to it,
-- the messages right before and after it in its thread, the chunks before and after in a document. Each with the chunk
-- it belongs to.
create or replace function knowledge.read_neighbours(p_workspace_id uuid, p_chats bigint[], p_chunk_ids bigint[])
returns table (of_chunk bigint, place text, chunk_id bigint, author text, text text) language sql stable as $$
    with found as (
        select c.id, c.document_id, c.chunk_no, coalesce(m.chat_id, d.chat_id) as chat_id, d.message_fk,
               m.message_id, m.thread_id, m.reply_to_message_id
          from kg.chunks c
          join content.documents d on (d.workspace_id, d.id) = (c.workspace_id, c.document_id)
          left join tg.messages m on (m.workspace_id, m.id) = (d.workspace_id, d.message_fk)
         where c.workspace_id = p_workspace_id and c.id = any (p_chunk_ids) and d.chat_id = any (p_chats)
    ), around as (
        select f.id, case when c.chunk_no < f.chunk_no then 'before' else 'after' end as place, c.document_id,
               c.chunk_no
          from found f
          join kg.chunks c on c.workspace_id = p_workspace_id and c.document_id = f.document_id
               and c.chunk_no in (f.chunk_no - 1, f.chunk_no + 1)
        union all
        select f.id, n.place, d.id, 0
          from found f cross join lateral (
              select 'answers' as place, r.id from tg.messages r
               where (r.workspace_id, r.chat_id, r.message_id) = (p_workspace_id, f.chat_id, f.reply_to_message_id)
              union all
              (select 'answered', w.id from tg.messages w
                where w.workspace_id = p_workspace_id and w.chat_id = f.chat_id and w.reply_to_message_id = f.message_id
                order by w.message_id limit 2)
              union all
              (select 'before', b.id from tg.messages b
                where b.workspace_id = p_workspace_id and b.chat_id = f.chat_id and b.message_id < f.message_id
                  and b.thread_id is not distinct from f.thread_id order by b.message_id desc limit 1)
              union all
              (select 'after', a.id from tg.messages a
                where a.workspace_id = p_workspace_id and a.chat_id = f.chat_id and a.message_id > f.message_id
                  and a.thread_id is not distinct from f.thread_id order by a.message_id limit 1)) n
          join content.documents d on (d.workspace_id, d.message_fk) = (p_workspace_id, n.id)
         where f.message_fk is not null
    )
    select a.id, a.place, c.id, d.author, c.text
      from around a
      join kg.chunks c on (c.workspace_id, c.document_id, c.chunk_no) = (p_workspace_id, a.document_id, a.chunk_no)
      join content.documents d on (d.workspace_id, d.id) = (c.workspace_id, c.document_id)
     where d.chat_id = any (p_chats)
     order by a.id, a.place, c.id
$$;
