-- The body of an event as it is signed and sent. The caller has redacted p_data. Guarantee: at most 65536 bytes,
-- because an event must never be the reason that a change fails: of data that is too large only its short fields are
-- left, and `truncated` says so.
create or replace function ops.event_body(p_event_type text, p_data jsonb) returns text language sql stable as $$
    select json_build_object(
        'type', p_event_type,
        'timestamp', to_char(platform.now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'data', case when coalesce(octet_length(p_data::text), 0) <= 60000 then coalesce(p_data, '{}') else (
            select coalesce(jsonb_object_agg(f.key, f.value), '{}') || '{"truncated": true}'
              from (select e.key, e.value from jsonb_each(p_data) e
                     where jsonb_typeof(e.value) not in ('object', 'array')
                       and octet_length(e.key) + octet_length(e.value::text) <= 1000
                     order by e.key limit 50) f) end)::text
$$;
