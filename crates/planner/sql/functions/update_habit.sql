-- habit.update: what the parameters do not name stays; null clears.
-- Raises ZG001.
create or replace function planner.update_habit(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    old_habit constant planner.habits := planner.find_habit(p_act, (p_params->>'habit_id')::bigint);
    habit planner.habits;
begin
    update planner.habits h
       set title = coalesce(p_params->>'title', h.title),
           description = case when p_params ? 'description' then p_params->>'description' else h.description end,
           category = case when p_params ? 'category' then p_params->>'category' else h.category end,
           days = coalesce(planner.day_numbers(p_params->'days'), h.days),
           version = h.version + 1, updated_at = platform.now()
     where h.workspace_id = p_act.workspace_id and h.habit_id = old_habit.habit_id
    returning * into habit;
    perform planner.add_change(p_act, 'habit', habit.habit_id, to_jsonb(old_habit), to_jsonb(habit));
    return planner.outcome('habit', habit.habit_id, old_habit.title, planner.show_habit(old_habit),
                           planner.show_habit(habit));
end
$$;
