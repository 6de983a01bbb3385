-- step.reorder: the step goes to `order` and those between move by one; beyond the end it goes to the end.
-- Raises ZG001.
create or replace function planner.reorder_step(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    old_step constant planner.steps := planner.find_step(p_act, (p_params->>'step_id')::bigint);
    ids constant bigint[] := planner.read_order(p_act.workspace_id, old_step.goal_id);
    others constant bigint[] := array_remove(ids, old_step.step_id);
    place constant int := least((p_params->>'order')::bigint, cardinality(others))::int;
    placed constant bigint[] := others[:place] || old_step.step_id || others[place + 1:];
    step planner.steps;
begin
    perform planner.arrange_steps(p_act.workspace_id, old_step.goal_id, placed);
    update planner.steps s set version = s.version + 1, updated_at = platform.now()
     where s.workspace_id = p_act.workspace_id and s.step_id = old_step.step_id
    returning * into step;
    perform planner.add_change(p_act, 'step', step.step_id, to_jsonb(old_step), to_jsonb(step));
    perform planner.add_change(p_act, 'order', step.goal_id, to_jsonb(ids), to_jsonb(placed));
    return planner.outcome('step', step.step_id, step.title, planner.show_step(old_step), planner.show_step(step), 0,
        jsonb_build_array(planner.outcome('order', step.goal_id, null, to_jsonb(ids), to_jsonb(placed))));
end
$$;
