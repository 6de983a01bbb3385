-- What a reader needs of chunks that were found: text, place and source. Left out: chunks of documents that are not of
-- the audience, questions to the bot, and p_but_message (the question itself).
create or replace function knowledge.read_hits(
    p_workspace_id uuid, p_chats bigint[], p_chunk_ids bigint[], p_but_message bigint
) returns table (
    chunk_id bigint, document_id bigint, chunk_no int, text text, mark jsonb, doc_type text, visibility text,
    chat_id bigint, chat_type text, chat_title text, chat_username text, title text, author text, doc_date text,
    url text, file_name text, message_fk bigint, message_id int, thread_id int, tg_user_id bigint, said_at timestamptz,
    message_chat_id bigint
) language sql stable as $$
    select c.id, d.id, c.chunk_no, c.text, c.mark, d.doc_type, d.visibility::text, d.chat_id, t.type, t.title,
           t.username,
           d.title,
           coalesce(case when d.doc_type = 'message' then m.forward_origin ->> 'name' end, d.author),
           d.doc_date, u.normalized_url, f.file_name, m.id, m.message_id, m.thread_id,
           m.tg_user_id, m.date,
           m.chat_id
      from kg.chunks c
      join content.documents d on (d.workspace_id, d.id) = (c.workspace_id, c.document_id)
      left join tg.chats t on (t.workspace_id, t.chat_id) = (d.workspace_id, d.chat_id)
      left join content.urls u on (u.workspace_id, u.id) = (d.workspace_id, d.url_id)
      left join tg.files f on (f.workspace_id, f.file_unique_id) = (d.workspace_id, d.file_unique_id)
      left join lateral (
          select x.* from tg.messages x
           where x.workspace_id = d.workspace_id and x.id = coalesce(d.message_fk, (
                 select min(s.message_fk) from content.document_sources s
                  where (s.workspace_id, s.document_id) = (d.workspace_id, d.id)))) m on true
     where c.workspace_id = p_workspace_id and c.id = any (p_chunk_ids) and d.chat_id = any (p_chats)
       and (p_but_message is null or d.message_fk is distinct from p_but_message)
       -- What was asked of the bot is no source, whether it was answered or not.
       and not exists (select from core.bot_transport_state b
                        where b.workspace_id = d.workspace_id and d.doc_type = 'message'
                          and position('@' || lower(b.username) in lower(d.text)) > 0)
       and not exists (select from audit.qa_turns q
                        where (q.workspace_id, q.question_message_fk) = (d.workspace_id, d.message_fk)
                          and not q.question_is_source)
$$;
