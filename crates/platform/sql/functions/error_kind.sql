-- The kind of an error, in the words of kernel::ErrorKind. SQL decides by it and by the scope, never by the code.
-- Guarantee: never null. An error that names no kind, or none that there is, is `unknown`: nothing is concluded from
-- its code. Errors from before there were kinds, and callers in SQL, may say `outcome_unknown: true` instead.
create or replace function platform.error_kind(p_error jsonb) returns text language sql immutable parallel safe as $$
    select case when p_error->>'kind' in ('rate_limited', 'unauthorized', 'forbidden', 'not_found', 'not_ready',
                                          'invalid', 'too_large', 'unavailable', 'timeout', 'unknown_outcome')
                then p_error->>'kind'
                when p_error->'outcome_unknown' = 'true' then 'unknown_outcome'
                else 'unknown' end
$$;
