-- A goal with its steps in their order; null when the person has no such goal.
create or replace function planner.read_goal(p_workspace_id uuid, p_person_id bigint, p_goal_id bigint)
returns jsonb language sql stable as $$
    select planner.show_goal(g) || jsonb_build_object('steps', coalesce((
               select jsonb_agg(planner.show_step(s) order by s."order") from planner.steps s
                where s.workspace_id = g.workspace_id and s.goal_id = g.goal_id), '[]'))
      from planner.goals g
     where g.workspace_id = p_workspace_id and g.person_id = p_person_id and g.goal_id = p_goal_id
$$;
