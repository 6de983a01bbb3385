-- Ends a turn with what is to be said. p_answer is {status, answer_text, audience, candidates, share, answered_by,
-- model, input_tokens, output_tokens, took_ms, citations: [{chunk_id, document_id, score, snippet, source_ref}], parts:
-- [text], buttons}. Guarantees: a turn ends once, and what it ended with comes back whoever asks again; turn, citations
-- and the replies that tell it are written in one transaction; an answer that cites what is gone, or what its audience
-- may not see any more, is not stored (returns null) and has to be made again.
create or replace function knowledge.end_turn(p_workspace_id uuid, p_turn_id bigint, p_answer jsonb) returns jsonb
language plpgsql as $$
declare
    turn audit.qa_turns;
    allowed bigint[];
begin
    select * into turn from audit.qa_turns t where (t.workspace_id, t.id) = (p_workspace_id, p_turn_id) for update;
    if not found then
        raise exception 'there is no question %', p_turn_id using errcode = 'ZK003';
    elsif turn.status <> 'asked' then
        return knowledge.read_turn(p_workspace_id, p_turn_id);
    end if;
    -- Whoever forgets a source has ended, and is seen; or waits until the citation is there, and takes it back.
    perform from content.documents d
      where d.workspace_id = p_workspace_id
        and d.id in (select (c ->> 'document_id')::bigint from jsonb_array_elements(p_answer -> 'citations') c)
      order by d.id for share;
    allowed := knowledge.audience_chats(p_workspace_id, turn.tg_user_id, turn.chat_id, turn.channel::text);
    if exists (
        select from jsonb_array_elements(p_answer -> 'citations') c
         where not exists (select from kg.chunks k
                             join content.documents d on (d.workspace_id, d.id) = (k.workspace_id, k.document_id)
                            where (k.workspace_id, k.id) = (p_workspace_id, (c ->> 'chunk_id')::bigint)
                              and d.chat_id = any (allowed))) then
        return null;
    end if;
    update audit.qa_turns t
       set status = p_answer ->> 'status', answer_text = p_answer ->> 'answer_text', audience = allowed,
           candidates = p_answer -> 'candidates', share = (p_answer ->> 'share')::real,
           answered_by = p_answer ->> 'answered_by', model = p_answer ->> 'model',
           input_tokens = (p_answer ->> 'input_tokens')::bigint, output_tokens = (p_answer ->> 'output_tokens')::bigint,
           took_ms = (p_answer ->> 'took_ms')::int, answered_at = platform.now()
     where (t.workspace_id, t.id) = (p_workspace_id, p_turn_id);
    insert into audit.qa_citations (workspace_id, turn_id, rank, chunk_id, document_id, score, snippet, source_ref)
    select p_workspace_id, p_turn_id, n, (c ->> 'chunk_id')::bigint, (c ->> 'document_id')::bigint,
           (c ->> 'score')::real, c ->> 'snippet', c -> 'source_ref'
      from jsonb_array_elements(p_answer -> 'citations') with ordinality l (c, n);
    if turn.bot_id is not null then
        insert into knowledge.replies
            (workspace_id, bot_id, dedup_key, chat_id, thread_id, reply_to_message_id, text, turn_id, part, buttons)
        select p_workspace_id, turn.bot_id, format('turn %s %s', p_turn_id, n), turn.chat_id, turn.thread_id,
               case when n = 1 then turn.reply_to_message_id end, part, p_turn_id, n,
               case when n = jsonb_array_length(p_answer -> 'parts') then coalesce(p_answer -> 'buttons', '[]')
                    else '[]' end
          from jsonb_array_elements_text(p_answer -> 'parts') with ordinality l (part, n)
        on conflict on constraint reply_is_made_once do nothing;
    end if;
    perform ops.append_journal(p_workspace_id, 'knowledge', 'question_' || (p_answer ->> 'status'), p_turn_id::text,
                               turn.trace_id);
    perform bus.publish(p_workspace_id, 'knowledge', jsonb_build_object('type', 'turn', 'id', p_turn_id));
    return knowledge.read_turn(p_workspace_id, p_turn_id);
end
$$;
