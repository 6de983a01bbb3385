-- An error of an adapter, reduced to what is stored and decided upon. The adapter has redacted it.
-- Guarantee: never null; category, scope and code are always there; a wait is at most a week.
create or replace function shopbot.short_error(p_error jsonb) returns jsonb language sql immutable parallel safe as $$
    select jsonb_strip_nulls(jsonb_build_object(
        'category', case when e.error->>'category' = 'PERMANENT' then 'PERMANENT' else 'TRANSIENT' end,
        'scope', case when e.error->>'scope' in ('channel', 'platform') then e.error->>'scope' else 'delivery' end,
        'code', left(coalesce(e.error->>'code', 'unknown'), 100),
        'message', left(e.error->>'message', 500),
        'retry_after_ms', case when jsonb_typeof(e.error->'retry_after_ms') = 'number'
                               then least(604800000, greatest(0, floor((e.error->>'retry_after_ms')::numeric))) end,
        'outcome_unknown', case when e.error->'outcome_unknown' = 'true' then true end))
      from (select case when jsonb_typeof(p_error) = 'object' then p_error else '{}' end as error) e
$$;
