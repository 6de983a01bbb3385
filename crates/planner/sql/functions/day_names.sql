-- Days of the week as answers write them.
create or replace function planner.day_names(p_days smallint[]) returns jsonb language sql immutable parallel safe as $$
    select coalesce(jsonb_agg((array['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])[d] order by d), '[]')
      from unnest(p_days) d
$$;
