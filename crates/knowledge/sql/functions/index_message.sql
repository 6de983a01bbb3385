-- Makes one version of a message what is found of it: its text as a document; and what only an older version shared
-- leaves. Returns the jobs for links and files.
create or replace function knowledge.index_message(
    p_workspace_id uuid, p_message_fk bigint, p_version_id bigint, p_visibility core.visibility_scope, p_owner bigint,
    p_chat_id bigint, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    version tg.message_versions;
    message tg.messages;
    document content.documents;
    dropped bigint[];
begin
    select * into version from tg.message_versions where (workspace_id, id) = (p_workspace_id, p_version_id);
    select * into message from tg.messages where (workspace_id, id) = (p_workspace_id, p_message_fk);
    if message.kind = 'service' then
        return '{"url_jobs": [], "file_jobs": []}';
    end if;

    -- The addresses of all its versions, in one order: two messages may exchange their links.
    perform from content.urls u
      where u.workspace_id = p_workspace_id and u.normalized_url in (
            select l.normalized_url from tg.message_versions v
              join tg.message_links l on (l.workspace_id, l.message_version_id) = (v.workspace_id, v.id)
             where (v.workspace_id, v.message_fk) = (p_workspace_id, p_message_fk))
      order by u.id for update;

    -- A command is for the bot, not for the archive.
    if coalesce(version.normalized_text, '') = '' or version.is_command then
        delete from content.documents where (workspace_id, message_fk) = (p_workspace_id, p_message_fk);
    else
        insert into content.documents as d
            (workspace_id, doc_type, visibility, chat_id, dm_owner_user_id, message_fk, message_version_id, author,
                doc_date,
             text, text_sha256, status)
        values (p_workspace_id, 'message', p_visibility, p_chat_id, p_owner, p_message_fk, p_version_id,
                knowledge.author_of(p_workspace_id, message), to_char(message.date at time zone 'UTC', 'YYYY-MM-DD'),
                version.normalized_text, encode(sha256(convert_to(version.normalized_text, 'UTF8')), 'hex'), 'done')
        on conflict on constraint document_of_a_message_once do update
           set message_version_id = excluded.message_version_id, text = excluded.text,
               text_sha256 = excluded.text_sha256,
               token_count = null, updated_at = platform.now(), version = d.version + 1
        returning d.* into document;
        delete from kg.chunks where (workspace_id, document_id) = (p_workspace_id, document.id);
        perform knowledge.ask_for_chunks(p_workspace_id, document, p_trace_id);
    end if;

    with gone as (
        delete from content.document_sources s using content.documents d
         where (s.workspace_id, s.message_fk) = (p_workspace_id, p_message_fk)
           and (d.workspace_id, d.id) = (s.workspace_id, s.document_id)
           and not exists (select from tg.message_attachments a
                            where (a.workspace_id, a.message_version_id) = (p_workspace_id, p_version_id)
                              and a.file_unique_id = d.file_unique_id)
           and not exists (select from tg.message_links l join content.urls u
                                  on (u.workspace_id, u.normalized_url) = (l.workspace_id, l.normalized_url)
                            where (l.workspace_id, l.message_version_id) = (p_workspace_id, p_version_id)
                              and u.id = d.url_id)
        returning s.document_id
    )
    select array_agg(document_id) into dropped from gone;
    perform knowledge.drop_unreferenced(p_workspace_id, dropped);

    return knowledge.ask_for_shared(p_workspace_id, p_version_id, p_visibility, p_owner, p_chat_id, p_trace_id);
end
$$;
