-- Notes bytes that are in object storage under p_blob ->> 'object_key'. Guarantee: one blob for one content of a
-- workspace; the object of a content that was there already is named as garbage. Returns the blob.
create or replace function knowledge.put_blob(p_workspace_id uuid, p_blob jsonb) returns bigint language plpgsql as $$
declare
    blob_id bigint;
begin
    insert into content.blob_objects as b (workspace_id, sha256, bytes, mime, object_key)
    values (p_workspace_id, p_blob ->> 'sha256', (p_blob ->> 'bytes')::bigint, p_blob ->> 'mime',
            p_blob ->> 'object_key')
    on conflict on constraint blob_is_stored_once do update set mime = coalesce(b.mime, excluded.mime)
    returning b.id into blob_id;
    if exists (select from content.blob_objects b
                where (b.workspace_id, b.id, b.object_key) = (p_workspace_id, blob_id, p_blob ->> 'object_key')) then
        delete from content.object_garbage
         where (workspace_id, object_key) = (p_workspace_id, p_blob ->> 'object_key');
    else
        update content.object_garbage set is_dropped = true
         where (workspace_id, object_key) = (p_workspace_id, p_blob ->> 'object_key');
        perform ops.enqueue_job(p_workspace_id, 'knowledge.remove_objects', '{}', null, 'remove_objects');
    end if;
    return blob_id;
end
$$;
