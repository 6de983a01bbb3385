-- The steps of a goal in their order.
create or replace function planner.read_order(p_workspace_id uuid, p_goal_id bigint)
returns bigint[] language sql stable as $$
    select array(select s.step_id from planner.steps s where s.workspace_id = p_workspace_id and s.goal_id = p_goal_id
                  order by s."order", s.step_id)
$$;
