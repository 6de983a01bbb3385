-- Counts anew who needs which stored bytes, and marks those that nobody has needed for the time the policy gives (large
-- videos get less). Returns what may be deleted from storage; posting.forget_media then ends it.
create or replace function posting.doom_media(p_limit int default 200)
returns table (workspace_id uuid, blob_ref text, origin_url text) language plpgsql as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
begin
    with live as materialized (
        select m.workspace_id, i.item->>'blob_ref' as blob_ref, count(*) as n
          from posting.messages m cross join lateral jsonb_array_elements(m.payload->'media') i (item)
         where m.payload ? 'media' and i.item ? 'blob_ref'
         group by 1, 2
    )
    update posting.media_origin o set ref_count = coalesce(l.n, 0)
      from posting.media_origin k left join live l on l.workspace_id = k.workspace_id and l.blob_ref = k.blob_ref
     where o.workspace_id = k.workspace_id and o.blob_ref = k.blob_ref and o.ref_count <> coalesce(l.n, 0);
    return query
        update posting.media_origin o set doomed_at = coalesce(o.doomed_at, now_ts)
         where (o.workspace_id, o.blob_ref) in (
               select k.workspace_id, k.blob_ref from posting.media_origin k
                cross join lateral posting.policy(k.workspace_id) p
                where k.doomed_at is not null
                   or (k.ref_count = 0 and k.last_seen_at < now_ts - interval '1 day' *
                       case when k.content_type like 'video/%' and k.size_bytes >= p.large_video_bytes_threshold
                            then p.origin_retention_large_video_days else p.origin_retention_days end)
                limit p_limit)
        returning o.workspace_id, o.blob_ref, o.origin_url;
end
$$;
