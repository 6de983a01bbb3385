-- The numbered sources of an answer as they were told, without those that are gone or that those who read the answer
-- may not see any more. Null for an answer without sources.
create or replace function knowledge.sources_of(p_workspace_id uuid, p_turn audit.qa_turns) returns text
language sql stable as $$
    select string_agg(
               case when d.chat_id = any (knowledge.audience_chats(
                             p_workspace_id, p_turn.tg_user_id, p_turn.chat_id, p_turn.channel::text))
                    then l.line else format('%s. этого источника больше нет, или он не виден', c.rank) end,
               e'\n' order by c.rank)
      from audit.qa_citations c
      join unnest(string_to_array(regexp_replace(p_turn.answer_text, '^.*\n\n(Источники|Sources):\n', ''), e'\n'))
           with ordinality l (line, rank) on l.rank = c.rank
      left join kg.chunks k on (k.workspace_id, k.id) = (c.workspace_id, c.chunk_id)
      left join content.documents d on (d.workspace_id, d.id) = (k.workspace_id, k.document_id)
     where (c.workspace_id, c.turn_id) = (p_workspace_id, p_turn.id)
$$;
