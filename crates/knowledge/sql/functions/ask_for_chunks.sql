-- The job that cuts a document whose text is there, if the policy of its chat lets it be found (allow_embedding).
create or replace function knowledge.ask_for_chunks(
    p_workspace_id uuid, p_document content.documents, p_trace_id text
) returns bigint language plpgsql as $$
begin
    if not (knowledge.policy_of(p_workspace_id, p_document.chat_id)).allow_embedding then
        return null;
    end if;
    -- One job for each version: the job of an older one may have read its text already.
    return ops.enqueue_job(
        p_workspace_id, 'knowledge.chunk', jsonb_build_object('document_id', p_document.id), null,
        format('document %s version %s', p_document.id, p_document.version), p_trace_id);
end
$$;
