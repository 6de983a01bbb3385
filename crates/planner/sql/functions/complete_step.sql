-- step.complete: the step is done, and its XP is given.
-- Raises ZG001.
create or replace function planner.complete_step(p_act planner.acts, p_params jsonb)
returns jsonb language plpgsql as $$
declare
    old_step constant planner.steps := planner.find_step(p_act, (p_params->>'step_id')::bigint);
    step planner.steps;
    given planner.xp_entries;
begin
    if old_step.completed_at is not null then
        raise exception 'Step already completed' using errcode = 'ZG001',
            hint = 'step.reopen takes its completion and XP back';
    end if;
    given := planner.give_xp(p_act, 'step', old_step.step_id);
    update planner.steps x
       set completed_at = platform.now(), xp_entry_id = given.entry_id, version = x.version + 1,
           updated_at = platform.now()
     where x.workspace_id = p_act.workspace_id and x.step_id = old_step.step_id
    returning * into step;
    perform planner.add_change(p_act, 'step', step.step_id, to_jsonb(old_step), to_jsonb(step));
    return planner.outcome('step', step.step_id, step.title, planner.show_step(old_step), planner.show_step(step),
                           given.amount);
end
$$;
