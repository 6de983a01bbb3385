-- goal.update: what the parameters do not name stays; null clears.
-- Raises ZG001.
create or replace function planner.update_goal(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    old_goal constant planner.goals := planner.find_goal(p_act, (p_params->>'goal_id')::bigint);
    goal planner.goals;
begin
    update planner.goals g
       set title = coalesce(p_params->>'title', g.title),
           description = case when p_params ? 'description' then p_params->>'description' else g.description end,
           category = case when p_params ? 'category' then p_params->>'category' else g.category end,
           priority = coalesce(p_params->>'priority', g.priority),
           due_date = case when p_params ? 'due_date' then (p_params->>'due_date')::date else g.due_date end,
           version = g.version + 1, updated_at = platform.now()
     where g.workspace_id = p_act.workspace_id and g.goal_id = old_goal.goal_id
    returning * into goal;
    perform planner.add_change(p_act, 'goal', goal.goal_id, to_jsonb(old_goal), to_jsonb(goal));
    return planner.outcome('goal', goal.goal_id, old_goal.title, planner.show_goal(old_goal), planner.show_goal(goal));
end
$$;
