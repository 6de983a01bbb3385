-- step.delete: later steps move up. XP that was earned stays.
-- Raises ZG001.
create or replace function planner.delete_step(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    step constant planner.steps := planner.find_step(p_act, (p_params->>'step_id')::bigint);
    ids constant bigint[] := planner.read_order(p_act.workspace_id, step.goal_id);
    placed constant bigint[] := array_remove(ids, step.step_id);
begin
    delete from planner.steps s where s.workspace_id = p_act.workspace_id and s.step_id = step.step_id;
    perform planner.arrange_steps(p_act.workspace_id, step.goal_id, placed);
    perform planner.add_change(p_act, 'step', step.step_id, to_jsonb(step), null);
    perform planner.add_change(p_act, 'order', step.goal_id, to_jsonb(ids), to_jsonb(placed));
    return planner.outcome('step', step.step_id, step.title, planner.show_step(step), null, 0,
        jsonb_build_array(planner.outcome('order', step.goal_id, null, to_jsonb(ids), to_jsonb(placed))));
end
$$;
