-- The second half of drop_unreferenced: addresses, files and blobs that no document and no message names any more. Each
-- is locked before it is judged, in a statement of its own: whoever refers to it right now has ended, and is seen.
create or replace function knowledge.drop_unreferenced_blobs(
    p_workspace_id uuid, p_url_ids bigint[], p_files text[], p_blob_ids bigint[]
) returns void language plpgsql as $$
declare
    blobs bigint[] := p_blob_ids;
    more bigint[];
begin
    select array_agg(f.blob_object_id) into more from content.url_fetches f
     where f.workspace_id = p_workspace_id and f.url_id = any (p_url_ids) and f.blob_object_id is not null;
    blobs := blobs || more;
    perform from content.urls u
      where u.workspace_id = p_workspace_id and u.id = any (p_url_ids) order by u.id for update;
    delete from content.urls u
     where u.workspace_id = p_workspace_id and u.id = any (p_url_ids)
       and not exists (select from content.documents d where (d.workspace_id, d.url_id) = (u.workspace_id, u.id))
       -- A message whose page was not fetched yet still needs the address.
       and not exists (select from tg.message_links l
                        where (l.workspace_id, l.normalized_url) = (u.workspace_id, u.normalized_url));
    perform from tg.files f
      where f.workspace_id = p_workspace_id and f.file_unique_id = any (p_files) order by f.file_unique_id for update;
    with removed as (
        delete from tg.files f
         where f.workspace_id = p_workspace_id and f.file_unique_id = any (p_files)
           and not exists (select from content.documents d
                            where (d.workspace_id, d.file_unique_id) = (f.workspace_id, f.file_unique_id))
           and not exists (select from tg.message_attachments a
                            where (a.workspace_id, a.file_unique_id) = (f.workspace_id, f.file_unique_id))
        returning f.blob_object_id
    )
    select array_agg(blob_object_id) into more from removed;
    blobs := blobs || more;
    perform from content.blob_objects b
      where b.workspace_id = p_workspace_id and b.id = any (blobs) order by b.id for update;
    with removed as (
        delete from content.blob_objects b
         where b.workspace_id = p_workspace_id and b.id = any (blobs)
           and not exists (select from content.documents d where (d.workspace_id, d.blob_object_id) = (b.workspace_id,
               b.id))
           and not exists (select from tg.files f where (f.workspace_id, f.blob_object_id) = (b.workspace_id, b.id))
           and not exists (select from content.url_fetches u where (u.workspace_id,
               u.blob_object_id) = (b.workspace_id, b.id))
        returning b.object_key
    ), named as (
        insert into content.object_garbage (workspace_id, object_key, is_dropped)
        select p_workspace_id, object_key, true from removed
        on conflict (workspace_id, object_key) do update set is_dropped = true returning 1
    )
    select array_agg(1) into more from named;
    if more is not null then
        perform ops.enqueue_job(p_workspace_id, 'knowledge.remove_objects', '{}', null, 'remove_objects');
    end if;
end
$$;
