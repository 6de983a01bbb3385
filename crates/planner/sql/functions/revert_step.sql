-- Makes a step what it was before a change, as revert_goal does. Its place is the business of the order, which comes
-- after it. Raises ZG001.
create or replace function planner.revert_step(p_act planner.acts, p_change planner.changes)
returns jsonb language plpgsql as $$
declare
    was constant planner.steps := jsonb_populate_record(null::planner.steps, p_change.before);
    old_step planner.steps;
    step planner.steps;
    award record;
begin
    if p_change.after is null then
        step := was;
        step.version := was.version + 1;
        step.updated_at := platform.now();
        insert into planner.steps values (step.*) returning * into step;
        perform planner.add_change(p_act, 'step', step.step_id, null, to_jsonb(step));
        return planner.outcome('step', step.step_id, step.title, null, planner.show_step(step));
    end if;
    old_step := planner.find_step(p_act, p_change.entity_id);
    if p_change.before is null then
        delete from planner.steps s where s.workspace_id = p_act.workspace_id and s.step_id = old_step.step_id;
        perform planner.add_change(p_act, 'step', old_step.step_id, to_jsonb(old_step), null);
        return planner.outcome('step', old_step.step_id, old_step.title, planner.show_step(old_step), null);
    end if;
    award := planner.award_to_keep(p_act, p_change, was.xp_entry_id is not null, old_step.xp_entry_id);
    update planner.steps s
       set title = was.title, description = was.description, priority = was.priority, due_date = was.due_date,
           completed_at = was.completed_at, xp_entry_id = award.entry_id, version = s.version + 1,
               updated_at = platform.now()
     where s.workspace_id = p_act.workspace_id and s.step_id = old_step.step_id
    returning * into step;
    perform planner.add_change(p_act, 'step', step.step_id, to_jsonb(old_step), to_jsonb(step));
    return planner.outcome('step', step.step_id, old_step.title, planner.show_step(old_step), planner.show_step(step),
                           award.xp);
end
$$;
