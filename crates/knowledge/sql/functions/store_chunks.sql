-- WF40: the chunks of a document, and the job that embeds them. Guarantees: chunks of a text that is not the document's
-- any more (p_version) change nothing; a chat whose policy lets nothing be found has none; cutting again gives the same
-- rows with the same ids; what a shorter text has no place for goes. p_chunks is [{text, text_sha256, start, end, mark,
-- terms}]; terms are of p_context and the text together, and a document whose context is another one by now is cut
-- again (returns null).
create or replace function knowledge.store_chunks(
    p_workspace_id uuid, p_document_id bigint, p_version int, p_context text, p_token_count int, p_chunks jsonb,
    p_trace_id text
) returns int language plpgsql as $$
declare
    document content.documents;
begin
    select * into document from content.documents where (workspace_id, id) = (p_workspace_id, p_document_id) for update;
    if not found then
        raise exception 'there is no document %', p_document_id using errcode = 'ZK003';
    elsif document.version <> p_version then
        return null;
    elsif not (knowledge.policy_of(p_workspace_id, document.chat_id)).allow_embedding then
        return 0;
    elsif coalesce(knowledge.document_context(document), '') <> p_context then
        return null;
    end if;
    update content.documents set token_count = coalesce(p_token_count, token_count)
     where (workspace_id, id) = (p_workspace_id, p_document_id) and token_count is distinct from p_token_count;
    delete from kg.chunks where (workspace_id, document_id) = (p_workspace_id, p_document_id)
       and chunk_no >= jsonb_array_length(p_chunks);
    insert into kg.chunks as c
        (workspace_id, document_id, chunk_no, text, context, text_sha256, start_char, end_char, mark, version)
    select p_workspace_id, p_document_id, n - 1, p ->> 'text', p_context, p ->> 'text_sha256', (p ->> 'start')::int,
           (p ->> 'end')::int, nullif(p -> 'mark', 'null'), p_version
      from jsonb_array_elements(p_chunks) with ordinality as l (p, n)
    on conflict on constraint chunk_is_there_once do update
       set text = excluded.text, context = excluded.context, text_sha256 = excluded.text_sha256,
           start_char = excluded.start_char, end_char = excluded.end_char, mark = excluded.mark,
               version = excluded.version
     where (c.text_sha256, c.context, c.start_char, c.end_char, c.version)
           is distinct from (excluded.text_sha256, excluded.context, excluded.start_char, excluded.end_char,
               excluded.version);
    -- In the same transaction: a chunk is found by its words as soon as it is there. What did not change stays.
    delete from kg.chunk_terms t
     using jsonb_array_elements(p_chunks) with ordinality as l (p, n)
      join kg.chunks c on (c.workspace_id, c.document_id, c.chunk_no) = (p_workspace_id, p_document_id, l.n - 1)
     where (t.workspace_id, t.chunk_id) = (p_workspace_id, c.id)
       and (t.weights <> (p ->> 'terms')::sparsevec or t.chat_id <> document.chat_id);
    insert into kg.chunk_terms (workspace_id, chunk_id, chat_id, weights)
    select p_workspace_id, c.id, document.chat_id, (p ->> 'terms')::sparsevec
      from jsonb_array_elements(p_chunks) with ordinality as l (p, n)
      join kg.chunks c on (c.workspace_id, c.document_id, c.chunk_no) = (p_workspace_id, p_document_id, l.n - 1)
    on conflict (workspace_id, chunk_id) do nothing;
    if jsonb_array_length(p_chunks) > 0 then
        perform ops.enqueue_job(p_workspace_id, 'knowledge.count_terms', '{}', null, 'count_terms', p_trace_id);
        perform ops.enqueue_job(p_workspace_id, 'knowledge.embed', jsonb_build_object('document_id', p_document_id),
                                null, format('document %s version %s', p_document_id, p_version), p_trace_id);
    end if;
    return jsonb_array_length(p_chunks);
end
$$;
