-- goal.reopen: the goal is not done after all, and exactly the XP that was given for it is taken back.
-- Raises ZG001.
create or replace function planner.reopen_goal(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    old_goal constant planner.goals := planner.find_goal(p_act, (p_params->>'goal_id')::bigint);
    goal planner.goals;
    taken planner.xp_entries;
begin
    if old_goal.completed_at is null then
        raise exception 'Goal is not completed' using errcode = 'ZG001', hint = 'only a completed goal can be reopened';
    end if;
    taken := planner.take_back_xp(p_act, old_goal.xp_entry_id);
    update planner.goals x
       set completed_at = null, xp_entry_id = null, version = x.version + 1, updated_at = platform.now()
     where x.workspace_id = p_act.workspace_id and x.goal_id = old_goal.goal_id
    returning * into goal;
    perform planner.add_change(p_act, 'goal', goal.goal_id, to_jsonb(old_goal), to_jsonb(goal));
    return planner.outcome('goal', goal.goal_id, goal.title, planner.show_goal(old_goal), planner.show_goal(goal),
                           taken.amount);
end
$$;
