-- The time that a cursor holds as microseconds since 1970, exactly.
create or replace function platform.at_micros(p_micros bigint) returns timestamptz
language sql stable parallel safe as $$
    select to_timestamp(p_micros / 1000000) + p_micros % 1000000 * interval '1 microsecond'
$$;
