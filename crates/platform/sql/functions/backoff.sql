-- How long to wait before the next attempt: p_base_seconds after the first one, twice as long after each further one,
-- at most p_max_seconds, and never less than p_asked_seconds, the time that a provider named.
create or replace function platform.backoff(
    p_attempt int, p_base_seconds float8, p_max_seconds float8, p_asked_seconds float8 default 0
) returns interval language sql volatile as $$
    -- Jitter is added, never subtracted: failures come in groups, and a group must spread out.
    select (greatest(w.seconds, p_asked_seconds) + least(w.seconds, 60) * 0.2 * random()) * interval '1 second'
      from (select least(p_max_seconds, p_base_seconds * power(2::float8, least(p_attempt - 1, 40))) as seconds) w
$$;
