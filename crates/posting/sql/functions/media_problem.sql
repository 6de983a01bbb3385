-- Why the media of a payload cannot go to this platform: bytes that we do not have, or more of them than it takes.
create or replace function posting.media_problem(p_workspace_id uuid, p_payload jsonb, p_platform text) returns text
language sql stable as $$
    select case
             when m.item->>'blob_ref' is not null and o.blob_ref is null
             then format('media_missing_origin: there is no stored media `%s`', left(m.item->>'blob_ref', 100))
             else format('%s of %s bytes is more than %s takes (%s)', m.item->>'type', o.size_bytes, p_platform,
                         l.bytes_max) end
      from jsonb_array_elements(p_payload->'media') with ordinality m (item, n)
      left join posting.media_origin o on o.workspace_id = p_workspace_id and o.blob_ref = m.item->>'blob_ref'
     cross join lateral (select (posting.provider_limits(p_platform)->'media_bytes_max'->>(m.item->>'type'))::bigint
                                as bytes_max) l
     where (m.item->>'blob_ref' is not null and o.blob_ref is null) or o.size_bytes > l.bytes_max
     order by m.n limit 1
$$;
