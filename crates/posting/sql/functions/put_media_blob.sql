-- A provider has these bytes now, and calls them p_file_id, until p_expires_at if it forgets.
create or replace function posting.put_media_blob(
    p_workspace_id uuid, p_blob_ref text, p_provider text, p_file_id text, p_expires_at timestamptz
) returns void language sql as $$
    insert into posting.media_blobs as b (workspace_id, blob_ref, provider, file_id, expires_at, created_at, updated_at)
    values (p_workspace_id, p_blob_ref, p_provider, p_file_id, p_expires_at, platform.now(), platform.now())
    on conflict (workspace_id, blob_ref, provider) do update
       set file_id = excluded.file_id, url = null, expires_at = excluded.expires_at, updated_at = excluded.updated_at
     where b.file_id is distinct from excluded.file_id or b.expires_at is distinct from excluded.expires_at
$$;
