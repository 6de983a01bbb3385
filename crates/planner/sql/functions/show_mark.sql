-- A day of a habit as answers write it.
create or replace function planner.show_mark(p_day date, p_is_completed boolean)
returns jsonb language sql immutable parallel safe as $$
    select jsonb_build_object('date', p_day, 'completed', p_is_completed)
$$;
