-- An error of an adapter, reduced to what may be stored and decided upon; everything else that it carried is left out.
-- Guarantee: never fails and is never null. Always there: category (TRANSIENT unless known to be PERMANENT), scope
-- (delivery, channel, platform), kind (see platform.error_kind) and code. If given and sensible: retry_after_ms (at
-- most 7 days), message and raw (redacted, at most 500 characters).
create or replace function platform.safe_error(p_error jsonb) returns jsonb
language sql immutable parallel safe as $$
    select jsonb_strip_nulls(jsonb_build_object(
        'category', case when given.error ->> 'category' = 'PERMANENT' then 'PERMANENT' else 'TRANSIENT' end,
        'scope', case when given.error ->> 'scope' in ('channel', 'platform') then given.error ->> 'scope'
                      else 'delivery' end,
        'kind', platform.error_kind(given.error),
        'code', coalesce(nullif(platform.snippet(case when jsonb_typeof(given.error -> 'code') in ('string', 'number')
                                                     then given.error ->> 'code' end, 100), ''), 'unknown'),
        'retry_after_ms', case when jsonb_typeof(given.error -> 'retry_after_ms') = 'number'
                               then case when (given.error -> 'retry_after_ms')::numeric >= 0 then
                                    least(floor((given.error -> 'retry_after_ms')::numeric), 604800000) end end,
        'message', platform.snippet(given.error ->> 'message', 500),
        'raw', platform.snippet(given.error ->> 'raw', 500)))
      from (select case when jsonb_typeof(p_error) = 'object' then p_error else '{}' end as error) given
$$;
