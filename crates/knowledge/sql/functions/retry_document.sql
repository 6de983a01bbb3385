-- Tries a document that has no text once more, from where it stopped: fetch or download it, or read its bytes again.
-- Returns the job. Raises ZK003 for a document that is not there, ZK002 for one that has its text.
create or replace function knowledge.retry_document(p_workspace_id uuid, p_document_id bigint, p_trace_id text)
returns bigint language plpgsql as $$
declare
    document content.documents;
    ctx jsonb;
    file text;
begin
    select * into document from content.documents d
     where (d.workspace_id, d.id) = (p_workspace_id, p_document_id) for no key update;
    if not found then
        raise exception 'there is no document %', p_document_id using errcode = 'ZK003';
    elsif document.status = 'done' then
        raise exception 'the document has its text already' using errcode = 'ZK002';
    end if;
    update content.documents d set status = 'pending', updated_at = platform.now()
     where (d.workspace_id, d.id) = (p_workspace_id, p_document_id);
    perform ops.append_journal(p_workspace_id, 'knowledge', 'document_retried', p_document_id::text, p_trace_id);
    if document.blob_object_id is not null then
        return ops.enqueue_job(p_workspace_id, 'knowledge.extract', jsonb_build_object('document_id', document.id),
                               null, null, p_trace_id);
    end if;
    -- Any message that shares it: the one that it was made for may have been edited or be gone.
    ctx := jsonb_build_object('chat_id', document.chat_id, 'visibility', document.visibility,
                              'dm_owner_user_id', document.dm_owner_user_id,
                              'message_version_id', (
                                  select m.current_version_id from content.document_sources s
                                    join tg.messages m on (m.workspace_id, m.id) = (s.workspace_id, s.message_fk)
                                   where (s.workspace_id, s.document_id) = (p_workspace_id, document.id)
                                   order by m.id desc limit 1));
    if document.url_id is not null then
        return ops.enqueue_job(p_workspace_id, 'knowledge.fetch_url',
                               jsonb_build_object('url_id', document.url_id, 'ctx', ctx), null, null, p_trace_id);
    end if;
    select i.file_id into file from tg.file_instances i
     where (i.workspace_id, i.file_unique_id) = (p_workspace_id, document.file_unique_id)
     order by i.last_seen_at desc limit 1;
    return ops.enqueue_job(
        p_workspace_id, 'knowledge.download_file',
        jsonb_build_object('file_id', file, 'file_unique_id', document.file_unique_id, 'ctx', ctx), null, null,
        p_trace_id);
end
$$;
