-- A habit as answers write it, with how it goes on a given day of its person.
create or replace function planner.show_habit_today(p_habit planner.habits, p_today date)
returns jsonb language sql stable as $$
    select planner.show_habit(p_habit) || jsonb_build_object(
        'streak', planner.streak(p_habit.workspace_id, p_habit.habit_id, p_today),
        'due_today', p_habit.archived_at is null and extract(isodow from p_today)::smallint = any (p_habit.days),
        'completed_today', exists (select from planner.marks m where m.workspace_id = p_habit.workspace_id
                                      and m.habit_id = p_habit.habit_id and m.day = p_today))
$$;
