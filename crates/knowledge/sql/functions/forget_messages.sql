-- Forgets messages: their texts, versions, documents, chunks and vectors, the pages and files that no other message
-- shares, also of p_documents, and the raw updates that tell of them, in one transaction. What comes late brings them
-- not back (tg.forgotten); the audit keeps that it happened and not what it was. Returns counts.
create or replace function knowledge.forget_messages(
    p_workspace_id uuid, p_message_fks bigint[], p_documents bigint[], p_kind text, p_chat_id bigint, p_asked_by text
) returns jsonb language plpgsql as $$
declare
    documents bigint[];
    names text[];
    files text[];
    urls bigint[];
    chunks int;
    messages int;
    raws int;
    pages int;
    chats bigint[];
    numbers int[];
begin
    perform from tg.messages m
      where m.workspace_id = p_workspace_id and m.id = any (p_message_fks) order by m.id for update;
    select array_agg(m.chat_id order by m.id), array_agg(m.message_id order by m.id) into chats, numbers
      from tg.messages m where m.workspace_id = p_workspace_id and m.id = any (p_message_fks);
    -- What retention forgets cannot come late.
    if p_kind <> 'retention' then
        insert into tg.forgotten (workspace_id, kind, chat_id, subject)
        select p_workspace_id, 'message', f.chat_id, f.message_id from unnest(chats, numbers) f (chat_id, message_id)
        on conflict do nothing;
    end if;
    select count(*) into chunks from kg.chunks c join content.documents d on (d.workspace_id, d.id) = (c.workspace_id,
        c.document_id)
     where d.workspace_id = p_workspace_id and d.message_fk = any (p_message_fks);
    select array_agg(distinct s.document_id) into documents from content.document_sources s
     where s.workspace_id = p_workspace_id and s.message_fk = any (p_message_fks);
    select array_agg(distinct a.file_unique_id) into files
      from tg.message_versions v join tg.message_attachments a on (a.workspace_id,
          a.message_version_id) = (v.workspace_id, v.id)
     where v.workspace_id = p_workspace_id and v.message_fk = any (p_message_fks);
    select array_agg(distinct u.id) into urls
      from tg.message_versions v
      join tg.message_links l on (l.workspace_id, l.message_version_id) = (v.workspace_id, v.id)
      join content.urls u on (u.workspace_id, u.normalized_url) = (l.workspace_id, l.normalized_url)
     where v.workspace_id = p_workspace_id and v.message_fk = any (p_message_fks);
    select array_agg(distinct knowledge.author_of(p_workspace_id, m)) into names from tg.messages m
     where m.workspace_id = p_workspace_id and m.id = any (p_message_fks);
    delete from tg.messages where workspace_id = p_workspace_id and id = any (p_message_fks);
    get diagnostics messages = row_count;
    pages := knowledge.drop_unreferenced(p_workspace_id, documents || p_documents);
    perform knowledge.drop_unreferenced_blobs(p_workspace_id, urls, files, null);
    perform knowledge.rename_author(p_workspace_id, documents, names);
    -- An update also tells what it answers to and what it pins: that goes, and the rest of it stays, because it may not
    -- have been read yet. The key of a forgotten one stays, so that a copy is still known as one.
    update raw.telegram_updates r
       set body = case when told.is_own then '{}' else knowledge.without_quotes(r.body) end
      from knowledge.raw_of_messages(p_workspace_id, chats, numbers) told
     where (r.workspace_id, r.id) = (p_workspace_id, told.raw_id);
    get diagnostics raws = row_count;
    insert into audit.forgettings (workspace_id, kind, chat_id, asked_by, counts)
    values (p_workspace_id, p_kind, p_chat_id, p_asked_by, jsonb_build_object(
        'messages', messages, 'documents', coalesce(pages, 0), 'chunks', chunks, 'raw_updates', raws));
    perform ops.append_journal(p_workspace_id, 'knowledge', 'forgotten', p_chat_id::text, null,
                               jsonb_build_object('kind', p_kind, 'messages', messages));
    return jsonb_build_object('messages', messages, 'documents', coalesce(pages, 0), 'chunks', chunks, 'raw_updates',
        raws);
end
$$;
