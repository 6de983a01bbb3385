-- A step; null when the person has no such step.
create or replace function planner.read_step(p_workspace_id uuid, p_person_id bigint, p_step_id bigint)
returns jsonb language sql stable as $$
    select planner.show_step(s) from planner.steps s
     where s.workspace_id = p_workspace_id and s.person_id = p_person_id and s.step_id = p_step_id
$$;
