-- goal.complete: the goal is done, and its XP is given.
-- Raises ZG001.
create or replace function planner.complete_goal(p_act planner.acts, p_params jsonb)
returns jsonb language plpgsql as $$
declare
    old_goal constant planner.goals := planner.find_goal(p_act, (p_params->>'goal_id')::bigint);
    goal planner.goals;
    given planner.xp_entries;
begin
    if old_goal.completed_at is not null then
        raise exception 'Goal already completed' using errcode = 'ZG001',
            hint = 'goal.reopen takes its completion and XP back';
    end if;
    given := planner.give_xp(p_act, 'goal', old_goal.goal_id);
    update planner.goals x
       set completed_at = platform.now(), xp_entry_id = given.entry_id, version = x.version + 1,
           updated_at = platform.now()
     where x.workspace_id = p_act.workspace_id and x.goal_id = old_goal.goal_id
    returning * into goal;
    perform planner.add_change(p_act, 'goal', goal.goal_id, to_jsonb(old_goal), to_jsonb(goal));
    return planner.outcome('goal', goal.goal_id, goal.title, planner.show_goal(old_goal), planner.show_goal(goal),
                           given.amount);
end
$$;
