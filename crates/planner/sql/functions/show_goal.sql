-- A goal as answers write it.
create or replace function planner.show_goal(p_goal planner.goals) returns jsonb language sql stable as $$
    select jsonb_build_object(
        'goal_id', p_goal.goal_id, 'title', p_goal.title, 'description', p_goal.description, 'category',
            p_goal.category,
        'priority', p_goal.priority, 'due_date', p_goal.due_date, 'created_at', platform.stamp(p_goal.created_at),
        'updated_at', platform.stamp(p_goal.updated_at), 'completed_at', platform.stamp(p_goal.completed_at),
        'version', p_goal.version)
     where p_goal.goal_id is not null
$$;
