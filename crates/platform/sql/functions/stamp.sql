-- A time as answers write it: UTC, always with six digits of fraction, so that times compare as texts.
create or replace function platform.stamp(p_at timestamptz) returns text language sql stable parallel safe as $$
    select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;
