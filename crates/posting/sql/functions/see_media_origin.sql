-- Whether these bytes are stored already and stay; seen again, they are kept for longer.
create or replace function posting.see_media_origin(p_workspace_id uuid, p_blob_ref text)
returns boolean language plpgsql as $$
begin
    update posting.media_origin o set last_seen_at = platform.now()
     where o.workspace_id = p_workspace_id and o.blob_ref = p_blob_ref and o.doomed_at is null;
    return found;
end
$$;
