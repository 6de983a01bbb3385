-- Forgets a page in every chat of a workspace: its documents, chunks, vectors, fetches and bytes, in one transaction.
-- The messages that link it stay, and do not bring it back when they are edited. The audit keeps that it happened, not
-- which page it was. Returns counts.
create or replace function knowledge.forget_url(p_workspace_id uuid, p_normalized_url text, p_asked_by text)
returns jsonb language plpgsql as $$
declare
    url bigint;
    blobs bigint[];
    chunks int;
    documents int;
    counts jsonb;
begin
    -- A message that is being stored has ended before, or begins after and sees it.
    perform pg_advisory_xact_lock(hashtextextended(p_workspace_id::text, 12));
    insert into tg.forgotten (workspace_id, kind, chat_id, subject)
    values (p_workspace_id, 'url', 0, hashtextextended(p_normalized_url, 0))
    on conflict (workspace_id, kind, chat_id, subject) do update set at = platform.now();
    select u.id into url from content.urls u
     where (u.workspace_id, u.normalized_url) = (p_workspace_id, p_normalized_url) for update;
    select count(*) into chunks from kg.chunks c
      join content.documents d on (d.workspace_id, d.id) = (c.workspace_id, c.document_id)
     where (d.workspace_id, d.url_id) = (p_workspace_id, url);
    delete from content.documents d where (d.workspace_id, d.url_id) = (p_workspace_id, url);
    get diagnostics documents = row_count;
    select array_agg(distinct f.blob_object_id) into blobs from content.url_fetches f
     where (f.workspace_id, f.url_id) = (p_workspace_id, url) and f.blob_object_id is not null;
    delete from content.urls u where (u.workspace_id, u.id) = (p_workspace_id, url);
    perform knowledge.drop_unreferenced_blobs(p_workspace_id, null, null, blobs);
    counts := jsonb_build_object('messages', 0, 'documents', documents, 'chunks', chunks, 'raw_updates', 0);
    insert into audit.forgettings (workspace_id, kind, asked_by, counts)
    values (p_workspace_id, 'url', p_asked_by, counts);
    perform ops.append_journal(p_workspace_id, 'knowledge', 'forgotten', null, null, '{"kind": "url"}');
    return counts;
end
$$;
