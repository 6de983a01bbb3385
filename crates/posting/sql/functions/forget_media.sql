-- The object is deleted: its row goes too, unless somebody has brought the bytes again meanwhile.
create or replace function posting.forget_media(p_workspace_id uuid, p_blob_ref text, p_origin_url text)
returns boolean language plpgsql as $$
begin
    delete from posting.media_origin o
     where o.workspace_id = p_workspace_id and o.blob_ref = p_blob_ref and o.origin_url = p_origin_url
       and o.doomed_at is not null;
    if not found then
        return false;
    end if;
    delete from posting.media_blobs b where b.workspace_id = p_workspace_id and b.blob_ref = p_blob_ref;
    return true;
end
$$;
