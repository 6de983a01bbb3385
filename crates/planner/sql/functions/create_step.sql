-- step.create: at `order`, moving later steps on by one; beyond the end, or without `order`, at the end. A goal has at
-- most 1000 steps. Raises ZG001.
create or replace function planner.create_step(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    goal constant planner.goals := planner.find_goal(p_act, (p_params->>'goal_id')::bigint);
    ids constant bigint[] := planner.read_order(p_act.workspace_id, goal.goal_id);
    place constant int := least(coalesce((p_params->>'order')::bigint, cardinality(ids)), cardinality(ids))::int;
    step planner.steps;
    placed bigint[];
begin
    if cardinality(ids) >= 1000 then
        raise exception 'Goal has too many steps' using errcode = 'ZG001',
            hint = 'a goal has at most 1000 steps; make another goal for the rest';
    end if;
    insert into planner.steps (workspace_id, goal_id, person_id, title, description, priority, due_date, "order")
    values (p_act.workspace_id, goal.goal_id, p_act.person_id, p_params->>'title', p_params->>'description',
            coalesce(p_params->>'priority', 'medium'), (p_params->>'due_date')::date, place)
    returning * into step;
    placed := ids[:place] || step.step_id || ids[place + 1:];
    perform planner.arrange_steps(p_act.workspace_id, goal.goal_id, placed);
    perform planner.add_change(p_act, 'step', step.step_id, null, to_jsonb(step));
    perform planner.add_change(p_act, 'order', goal.goal_id, to_jsonb(ids), to_jsonb(placed));
    return planner.outcome('step', step.step_id, step.title, null, planner.show_step(step), 0,
        jsonb_build_array(planner.outcome('order', goal.goal_id, goal.title, to_jsonb(ids), to_jsonb(placed))));
end
$$;
