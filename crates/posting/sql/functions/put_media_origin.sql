-- These bytes are in our storage at p_origin_url. An address is never used twice, so deleting an old one cannot hurt a
-- new one.
create or replace function posting.put_media_origin(
    p_workspace_id uuid, p_blob_ref text, p_origin_url text, p_sha256 text, p_content_type text, p_size_bytes bigint
) returns void language sql as $$
    insert into posting.media_origin (workspace_id, blob_ref, origin_url, sha256, content_type, size_bytes,
                                      last_seen_at, created_at)
    values (p_workspace_id, p_blob_ref, p_origin_url, p_sha256, left(p_content_type, 200), p_size_bytes, platform.now(),
            platform.now())
    on conflict (workspace_id, blob_ref) do update
       set last_seen_at = excluded.last_seen_at, origin_url = excluded.origin_url, doomed_at = null
$$;
