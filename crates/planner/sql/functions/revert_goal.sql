-- Makes a goal what it was before a change: undo of goal.create removes it, undo of goal.delete brings it back under
-- its id. Its version grows, because a preview that saw it before has not seen this.
-- Raises ZG001.
create or replace function planner.revert_goal(p_act planner.acts, p_change planner.changes)
returns jsonb language plpgsql as $$
declare
    was constant planner.goals := jsonb_populate_record(null::planner.goals, p_change.before);
    old_goal planner.goals;
    goal planner.goals;
    award record;
begin
    if p_change.after is null then
        goal := was;
        goal.version := was.version + 1;
        goal.steps_version := was.steps_version + 1;
        goal.updated_at := platform.now();
        insert into planner.goals values (goal.*) returning * into goal;
        perform planner.add_change(p_act, 'goal', goal.goal_id, null, to_jsonb(goal));
        return planner.outcome('goal', goal.goal_id, goal.title, null, planner.show_goal(goal));
    end if;
    old_goal := planner.find_goal(p_act, p_change.entity_id);
    if p_change.before is null then
        delete from planner.goals g where g.workspace_id = p_act.workspace_id and g.goal_id = old_goal.goal_id;
        perform planner.add_change(p_act, 'goal', old_goal.goal_id, to_jsonb(old_goal), null);
        return planner.outcome('goal', old_goal.goal_id, old_goal.title, planner.show_goal(old_goal), null);
    end if;
    award := planner.award_to_keep(p_act, p_change, was.xp_entry_id is not null, old_goal.xp_entry_id);
    update planner.goals g
       set title = was.title, description = was.description, category = was.category, priority = was.priority,
           due_date = was.due_date,
           completed_at = was.completed_at, xp_entry_id = award.entry_id, version = g.version + 1,
               updated_at = platform.now()
     where g.workspace_id = p_act.workspace_id and g.goal_id = old_goal.goal_id
    returning * into goal;
    perform planner.add_change(p_act, 'goal', goal.goal_id, to_jsonb(old_goal), to_jsonb(goal));
    return planner.outcome('goal', goal.goal_id, old_goal.title, planner.show_goal(old_goal), planner.show_goal(goal),
                           award.xp);
end
$$;
