-- How many days of these weekdays (1 is Monday) there have been up to a day, itself included, since the calendar began:
-- the first of January of the year 1 was a Monday.
create or replace function planner.due_days(p_days smallint[], p_day date)
returns int language sql immutable parallel safe as $$
    select (p_day - date '0001-01-01') / 7 * cardinality(p_days)
         + (select count(*)::int from unnest(p_days) d (day) where d.day <= extract(isodow from p_day))
$$;
