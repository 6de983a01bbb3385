-- WF33: the text of a document, or why there is none. p_text is {text, title, author, date, language, mime, marks,
-- token_count}, or null with p_problem; p_is_final false keeps the document waiting. Guarantees: what was extracted
-- from other bytes than the document's (p_version) changes nothing (returns null); the old text leaves the index with
-- its chunks in this transaction; again, it leads to the same row. Returns document_id, status, token_count.
create or replace function knowledge.store_text(
    p_workspace_id uuid, p_document_id bigint, p_version int, p_text jsonb, p_problem text, p_is_final boolean,
    p_trace_id text
) returns jsonb language plpgsql as $$
declare
    document content.documents;
    sha constant text := encode(sha256(convert_to(p_text ->> 'text', 'UTF8')), 'hex');
begin
    select * into document from content.documents d
     where (d.workspace_id, d.id) = (p_workspace_id, p_document_id) for no key update;
    if not found then
        raise exception 'there is no document %', p_document_id using errcode = 'ZK003';
    elsif document.version <> p_version then
        return null;
    end if;
    if p_text is null then
        update content.documents d
           set status = case when p_is_final then 'error' else 'pending' end, error = p_problem, text = null,
               text_sha256 = null, token_count = null, marks = '[]', updated_at = platform.now()
         where (d.workspace_id, d.id) = (p_workspace_id, p_document_id) returning * into document;
        delete from kg.chunks where (workspace_id, document_id) = (p_workspace_id, p_document_id);
    else
        if document.text_sha256 is distinct from sha then
            delete from kg.chunks where (workspace_id, document_id) = (p_workspace_id, p_document_id);
        end if;
        update content.documents d
           set text = p_text ->> 'text', text_sha256 = sha, token_count = (p_text ->> 'token_count')::int,
               title = left(coalesce(p_text ->> 'title', d.title), 500),
               author = left(coalesce(p_text ->> 'author', d.author), 200),
               doc_date = left(coalesce(p_text ->> 'date', d.doc_date), 40),
               language = left(p_text ->> 'language', 20), mime = left(p_text ->> 'mime', 200),
               marks = coalesce(p_text -> 'marks', '[]'), status = 'done', error = null, updated_at = platform.now(),
               version = d.version + (d.text_sha256 is distinct from sha)::int
         where (d.workspace_id, d.id) = (p_workspace_id, p_document_id) returning * into document;
        perform knowledge.ask_for_chunks(p_workspace_id, document, p_trace_id);
    end if;
    perform bus.publish(p_workspace_id, 'knowledge', jsonb_build_object('type', 'document', 'id', p_document_id));
    return jsonb_build_object('document_id', p_document_id, 'status', document.status,
                              'token_count', document.token_count);
end
$$;
