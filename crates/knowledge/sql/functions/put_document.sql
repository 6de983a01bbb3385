-- The document of a page (p_url_id) or a file (p_file_unique_id) for one audience. Guarantees: one for each audience;
-- it names the message that shares it, and is not made for a message that is gone or does not share it any more
-- (returns null). Other bytes make it pending again, with a job that extracts them; a problem is noted with its reason
-- and ends it if p_is_final. What it said before stays until the new text is stored.
create or replace function knowledge.put_document(
    p_workspace_id uuid, p_ctx jsonb, p_url_id bigint, p_file_unique_id text, p_blob_id bigint, p_title text,
    p_problem text, p_is_final boolean, p_trace_id text
) returns bigint language plpgsql as $$
declare
    audience record;
    message tg.messages;
    document content.documents;
begin
    select * into audience from knowledge.given_audience(p_workspace_id, p_ctx);
    if audience.version_id is not null then
        -- An edit or a forgetting waits, and sees the document.
        select m.* into message from tg.message_versions v
          join tg.messages m on (m.workspace_id, m.id) = (v.workspace_id, v.message_fk)
         where (v.workspace_id, v.id) = (p_workspace_id, audience.version_id) for share of m;
        if not found or not exists (
            select from tg.message_attachments a
             where (a.workspace_id, a.message_version_id) = (p_workspace_id, message.current_version_id)
               and a.file_unique_id = p_file_unique_id
            union all
            select from tg.message_links l
              join content.urls u on (u.workspace_id, u.normalized_url) = (l.workspace_id, l.normalized_url)
             where (l.workspace_id, l.message_version_id) = (p_workspace_id, message.current_version_id)
               and u.id = p_url_id) then
            return null;
        end if;
    end if;
    insert into content.documents as d
        (workspace_id, doc_type, visibility, chat_id, dm_owner_user_id, message_version_id, url_id, file_unique_id,
         title, author, doc_date)
    values (p_workspace_id, case when p_url_id is null then 'file' else 'url' end, audience.visibility,
            audience.chat_id, audience.owner, audience.version_id, p_url_id, p_file_unique_id, left(p_title, 500),
            case when p_url_id is null then knowledge.author_of(p_workspace_id, message) end,
            to_char(message.date at time zone 'UTC', 'YYYY-MM-DD'))
    on conflict do nothing;
    select * into document from content.documents d
     where d.workspace_id = p_workspace_id and d.chat_id = audience.chat_id
       and (d.url_id = p_url_id or d.file_unique_id = p_file_unique_id) for no key update;
    if message.id is not null then
        insert into content.document_sources values (p_workspace_id, document.id, message.id) on conflict do nothing;
    end if;

    if p_problem is not null then
        -- A page that could be read before is not lost because it cannot be reached now.
        update content.documents d
           set error = p_problem, updated_at = platform.now(),
               status = case when p_is_final then 'error' else 'pending' end
         where (d.workspace_id, d.id) = (p_workspace_id, document.id) and d.status <> 'done';
    elsif document.blob_object_id is distinct from p_blob_id or document.status = 'error' then
        update content.documents d
           set blob_object_id = p_blob_id, status = 'pending', error = null, version = d.version + 1,
               updated_at = platform.now()
         where (d.workspace_id, d.id) = (p_workspace_id, document.id) returning * into document;
        perform ops.enqueue_job(p_workspace_id, 'knowledge.extract', jsonb_build_object('document_id', document.id),
                                null, format('document %s version %s', document.id, document.version), p_trace_id);
    end if;
    perform bus.publish(p_workspace_id, 'knowledge', jsonb_build_object('type', 'document', 'id', document.id));
    return document.id;
end
$$;
