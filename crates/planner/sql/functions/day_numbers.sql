-- A list of mon to sun as it is kept: sorted and without repeats. Null for null.
create or replace function planner.day_numbers(p_days jsonb)
returns smallint[] language sql immutable parallel safe as $$
    select array_agg(x.n order by x.n)
      from (select distinct array_position(array['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], d)::smallint as n
              from jsonb_array_elements_text(nullif(p_days, 'null')) d) x
$$;
