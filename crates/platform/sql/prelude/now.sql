-- The one door to the time in SQL. A test session freezes and moves it with the setting `platform.now`.
-- Stable and inlined, so that an index on a time column is still used.
create or replace function platform.now() returns timestamptz language sql stable parallel safe as $$
    select coalesce(nullif(current_setting('platform.now', true), '')::timestamptz, now())
$$;
