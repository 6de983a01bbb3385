-- A step as answers write it.
create or replace function planner.show_step(p_step planner.steps) returns jsonb language sql stable as $$
    select jsonb_build_object(
        'step_id', p_step.step_id, 'goal_id', p_step.goal_id, 'title', p_step.title, 'description', p_step.description,
        'priority', p_step.priority, 'due_date', p_step.due_date, 'order', p_step."order",
        'created_at', platform.stamp(p_step.created_at),
        'updated_at', platform.stamp(p_step.updated_at), 'completed_at', platform.stamp(p_step.completed_at),
        'version', p_step.version)
     where p_step.step_id is not null
$$;
