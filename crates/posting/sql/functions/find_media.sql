-- What is known of stored media for one provider: its name there while that still holds, and where we keep the bytes.
create or replace function posting.find_media(p_workspace_id uuid, p_blob_refs text[], p_provider text)
returns table (blob_ref text, file_id text, origin_url text, content_type text) language sql stable as $$
    select w.blob_ref, b.file_id, o.origin_url, o.content_type
      from unnest(p_blob_refs) w (blob_ref)
      left join posting.media_origin o on o.workspace_id = p_workspace_id and o.blob_ref = w.blob_ref
      left join posting.media_blobs b on b.workspace_id = p_workspace_id and b.blob_ref = w.blob_ref
          and b.provider = p_provider
            and (b.expires_at is null or b.expires_at > platform.now())
$$;
