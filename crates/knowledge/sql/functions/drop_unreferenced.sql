-- Removes what nobody refers to any more, out of what is named: pages and files whose last message went, then their
-- addresses, files and blobs. The bytes of a blob are named in content.object_garbage, from which a job removes them.
create or replace function knowledge.drop_unreferenced(p_workspace_id uuid, p_document_ids bigint[]) returns int
language plpgsql as $$
declare
    gone int;
    urls bigint[];
    files text[];
    blobs bigint[];
begin
    -- Each is locked before it is judged, in a statement of its own: whoever shares a page right now has ended, and
    -- is seen.
    perform from content.urls u
      where u.workspace_id = p_workspace_id and u.id in (
            select d.url_id from content.documents d
             where d.workspace_id = p_workspace_id and d.id = any (p_document_ids))
      order by u.id for update;
    perform from content.documents d
      where d.workspace_id = p_workspace_id and d.id = any (p_document_ids) order by d.id for update;
    with removed as (
        delete from content.documents d
         where d.workspace_id = p_workspace_id and d.id = any (p_document_ids) and d.doc_type <> 'message'
           and not exists (select from content.document_sources s
                            where (s.workspace_id, s.document_id) = (d.workspace_id, d.id))
        returning d.url_id, d.file_unique_id, d.blob_object_id
    )
    select count(*), array_agg(url_id), array_agg(file_unique_id), array_agg(blob_object_id)
      into gone, urls, files, blobs from removed;
    perform knowledge.drop_unreferenced_blobs(p_workspace_id, urls, files, blobs);
    return gone;
end
$$;
