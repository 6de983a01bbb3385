-- goal.create.
create or replace function planner.create_goal(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    goal planner.goals;
begin
    insert into planner.goals (workspace_id, person_id, title, description, category, priority, due_date)
    values (p_act.workspace_id, p_act.person_id, p_params->>'title', p_params->>'description', p_params->>'category',
            coalesce(p_params->>'priority', 'medium'), (p_params->>'due_date')::date)
    returning * into goal;
    perform planner.add_change(p_act, 'goal', goal.goal_id, null, to_jsonb(goal));
    return planner.outcome('goal', goal.goal_id, goal.title, null, planner.show_goal(goal));
end
$$;
