-- Whether this is a set of days of the week, 1 (Monday) to 7 (Sunday), sorted and without repeats, with one day at
-- least.
create or replace function planner.is_days(p_days smallint[]) returns boolean language sql immutable parallel safe as $$
    select cardinality(p_days) > 0
       and p_days = array(select distinct d from unnest(p_days) d where d between 1 and 7 order by d)
$$;
