-- WF31: what came of one attempt at a page, in one transaction: the fetch, the blob, the document of the audience and
-- its job.
-- p_fetch is {status_code, final_url, etag, last_modified, content_type, bytes, error, is_final, unchanged_id}, where
-- unchanged_id is the fetch whose bytes are still the page's; p_blob is null without bytes. Returns url_fetch_id,
-- document_id and status. Raises ZK003 if the address went meanwhile, ZK004 for an audience that cannot be.
create or replace function knowledge.store_fetch(
    p_workspace_id uuid, p_url_id bigint, p_ctx jsonb, p_fetch jsonb, p_blob jsonb, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    fetch_id bigint;
    blob_id bigint;
    document_id bigint;
begin
    perform knowledge.hold_message(p_workspace_id, p_ctx);
    update content.urls set busy_until = null where (workspace_id, id) = (p_workspace_id, p_url_id);
    if not found then
        raise exception 'there is no address %', p_url_id using errcode = 'ZK003';
    end if;
    if p_blob is not null then
        blob_id := knowledge.put_blob(p_workspace_id, p_blob);
    else
        select f.blob_object_id into blob_id from content.url_fetches f
         where (f.workspace_id, f.id) = (p_workspace_id, (p_fetch ->> 'unchanged_id')::bigint);
    end if;
    insert into content.url_fetches (workspace_id, url_id, status_code, final_url, etag, last_modified, content_type,
                                     bytes, blob_object_id, error)
    values (p_workspace_id, p_url_id, (p_fetch ->> 'status_code')::int, left(p_fetch ->> 'final_url', 4096),
            left(p_fetch ->> 'etag', 500), left(p_fetch ->> 'last_modified', 200),
            left(p_fetch ->> 'content_type', 200), (p_fetch ->> 'bytes')::bigint, blob_id, p_fetch ->> 'error')
    returning id into fetch_id;
    document_id := knowledge.put_document(p_workspace_id, p_ctx, p_url_id, null, blob_id, null, p_fetch ->> 'error',
                                          coalesce((p_fetch ->> 'is_final')::boolean, false), p_trace_id);
    return knowledge.told_document(p_workspace_id, document_id) || jsonb_build_object('url_fetch_id', fetch_id);
end
$$;
