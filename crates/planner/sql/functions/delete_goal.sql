-- goal.delete: the goal goes with its steps. XP that was earned stays.
-- Raises ZG001.
create or replace function planner.delete_goal(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    goal constant planner.goals := planner.find_goal(p_act, (p_params->>'goal_id')::bigint);
    ids constant bigint[] := planner.read_order(p_act.workspace_id, goal.goal_id);
    also jsonb;
begin
    if cardinality(ids) > 0 then
        perform planner.add_change(p_act, 'order', goal.goal_id, to_jsonb(ids), '[]');
    end if;
    perform planner.add_change(p_act, 'step', s.step_id, to_jsonb(s), null)
       from (select * from planner.steps s where s.workspace_id = p_act.workspace_id and s.goal_id = goal.goal_id
             order by s."order") s;
    select coalesce(jsonb_agg(planner.outcome('step', s.step_id, s.title, planner.show_step(s), null)
                              order by s."order"), '[]') into also
      from planner.steps s where s.workspace_id = p_act.workspace_id and s.goal_id = goal.goal_id;
    delete from planner.steps s where s.workspace_id = p_act.workspace_id and s.goal_id = goal.goal_id;
    delete from planner.goals g where g.workspace_id = p_act.workspace_id and g.goal_id = goal.goal_id;
    perform planner.add_change(p_act, 'goal', goal.goal_id, to_jsonb(goal), null);
    return planner.outcome('goal', goal.goal_id, goal.title, planner.show_goal(goal), null, 0, also);
end
$$;
