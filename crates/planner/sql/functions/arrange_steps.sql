-- Puts the steps of a goal into the order of the list, which names all of them. Only steps that move are touched.
create or replace function planner.arrange_steps(p_workspace_id uuid, p_goal_id bigint, p_ids bigint[])
returns void language plpgsql as $$
begin
    update planner.steps s set "order" = w.place - 1
      from unnest(p_ids) with ordinality w (step_id, place)
     where s.workspace_id = p_workspace_id and s.goal_id = p_goal_id and s.step_id = w.step_id
       and s."order" <> w.place - 1;
    update planner.goals g set steps_version = g.steps_version + 1
     where g.workspace_id = p_workspace_id and g.goal_id = p_goal_id;
end
$$;
