-- A habit as answers write it.
create or replace function planner.show_habit(p_habit planner.habits) returns jsonb language sql stable as $$
    select jsonb_build_object(
        'habit_id', p_habit.habit_id, 'title', p_habit.title, 'description', p_habit.description, 'category',
            p_habit.category,
        'days', planner.day_names(p_habit.days), 'created_at', platform.stamp(p_habit.created_at),
        'updated_at', platform.stamp(p_habit.updated_at), 'archived_at', platform.stamp(p_habit.archived_at),
        'version', p_habit.version)
     where p_habit.habit_id is not null
$$;
