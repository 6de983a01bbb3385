-- What a request without a source_ref is known by: the hash of what its sender sent, without what we add to it.
create or replace function posting.request_hash(p_raw_payload_json jsonb) returns text
language sql immutable parallel safe as $$
    select posting.content_hash(p_raw_payload_json - '{run_id,trace_id,source}'::text[])
$$;
