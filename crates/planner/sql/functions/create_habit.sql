-- habit.create: on every day of the week unless `days` says otherwise.
create or replace function planner.create_habit(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    habit planner.habits;
begin
    insert into planner.habits (workspace_id, person_id, title, description, category, days)
    values (p_act.workspace_id, p_act.person_id, p_params->>'title', p_params->>'description', p_params->>'category',
            coalesce(planner.day_numbers(p_params->'days'), '{1,2,3,4,5,6,7}'))
    returning * into habit;
    perform planner.add_change(p_act, 'habit', habit.habit_id, null, to_jsonb(habit));
    return planner.outcome('habit', habit.habit_id, habit.title, null, planner.show_habit(habit));
end
$$;
