-- An error of a provider, reduced to what may be stored and decided upon; whatever else it carried is left out.
-- Guarantee: never fails and is never null. Always there: category (TRANSIENT unless known to be PERMANENT), scope
-- (delivery, channel, platform) and code. If given and sensible: retry_after_ms (at most 7 days), message and raw
-- (redacted, at most 500 characters), outcome_unknown (only true).
create or replace function posting.safe_error(p_error jsonb) returns jsonb
language sql immutable parallel safe as $$
    select jsonb_strip_nulls(jsonb_build_object(
        'category', case when given.error ->> 'category' = 'PERMANENT' then 'PERMANENT' else 'TRANSIENT' end,
        'scope', case when given.error ->> 'scope' in ('channel', 'platform') then given.error ->> 'scope' else 'delivery' end,
        'code', coalesce(nullif(posting.snippet(case when jsonb_typeof(given.error -> 'code') in ('string', 'number')
                                                     then given.error ->> 'code' end, 100), ''), 'unknown'),
        'retry_after_ms', case when jsonb_typeof(given.error -> 'retry_after_ms') = 'number'
                               then case when (given.error -> 'retry_after_ms')::numeric >= 0
                                         then least(floor((given.error -> 'retry_after_ms')::numeric), 604800000) end end,
        'message', posting.snippet(given.error ->> 'message', 500),
        'raw', posting.snippet(given.error ->> 'raw', 500),
        'outcome_unknown', case when given.error -> 'outcome_unknown' = 'true' then true end))
      from (select case when jsonb_typeof(p_error) = 'object' then p_error else '{}' end as error) given
$$;
