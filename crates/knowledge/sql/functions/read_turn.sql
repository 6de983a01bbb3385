-- A turn with what an answer needs: who asked what and where, and the last questions and answers of its session.
create or replace function knowledge.read_turn(p_workspace_id uuid, p_turn_id bigint) returns jsonb
language sql stable as $$
    select to_jsonb(t) || jsonb_build_object(
        'message_id', t.reply_to_message_id,
        'citations', coalesce((
            select jsonb_agg(jsonb_build_object('rank', c.rank, 'chunk_id', c.chunk_id, 'score', c.score,
                                                'snippet', c.snippet, 'source_ref', c.source_ref) order by c.rank)
              from audit.qa_citations c where (c.workspace_id, c.turn_id) = (t.workspace_id, t.id)), '[]'),
        'before', coalesce((
            select jsonb_agg(b.said order by b.id) from (
                select x.id, jsonb_build_object('question', x.question, 'answer', x.answer_text) as said
                  from audit.qa_turns x
                 where (x.workspace_id, x.session_id) = (t.workspace_id, t.session_id) and x.id < t.id
                   and x.status in ('answered', 'refused')
                 order by x.id desc limit 3) b), '[]'))
      from audit.qa_turns t where (t.workspace_id, t.id) = (p_workspace_id, p_turn_id)
$$;
