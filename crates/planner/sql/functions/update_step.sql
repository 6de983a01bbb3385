-- step.update: what the parameters do not name stays; null clears.
-- Raises ZG001.
create or replace function planner.update_step(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    old_step constant planner.steps := planner.find_step(p_act, (p_params->>'step_id')::bigint);
    step planner.steps;
begin
    update planner.steps s
       set title = coalesce(p_params->>'title', s.title),
           description = case when p_params ? 'description' then p_params->>'description' else s.description end,
           priority = coalesce(p_params->>'priority', s.priority),
           due_date = case when p_params ? 'due_date' then (p_params->>'due_date')::date else s.due_date end,
           version = s.version + 1, updated_at = platform.now()
     where s.workspace_id = p_act.workspace_id and s.step_id = old_step.step_id
    returning * into step;
    perform planner.add_change(p_act, 'step', step.step_id, to_jsonb(old_step), to_jsonb(step));
    return planner.outcome('step', step.step_id, old_step.title, planner.show_step(old_step), planner.show_step(step));
end
$$;
