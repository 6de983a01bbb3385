-- WF31 without a fetch: the last answer is young enough, and becomes a document of one more audience.
create or replace function knowledge.share_page(
    p_workspace_id uuid, p_url_id bigint, p_ctx jsonb, p_fetch_id bigint, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    blob_id bigint;
begin
    perform knowledge.hold_message(p_workspace_id, p_ctx);
    -- The address is locked, so that it does not go before the document refers to it.
    perform from content.urls u where (u.workspace_id, u.id) = (p_workspace_id, p_url_id) for share;
    select f.blob_object_id into blob_id from content.url_fetches f
     where (f.workspace_id, f.id) = (p_workspace_id, p_fetch_id);
    if blob_id is null then
        raise exception 'there is no such fetch' using errcode = 'ZK003';
    end if;
    return jsonb_build_object('url_fetch_id', p_fetch_id) || knowledge.told_document(
        p_workspace_id,
        knowledge.put_document(p_workspace_id, p_ctx, p_url_id, null, blob_id, null, null, false, p_trace_id));
end
$$;
