-- step.reopen: the step is not done after all, and exactly the XP that was given for it is taken back.
-- Raises ZG001.
create or replace function planner.reopen_step(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    old_step constant planner.steps := planner.find_step(p_act, (p_params->>'step_id')::bigint);
    step planner.steps;
    taken planner.xp_entries;
begin
    if old_step.completed_at is null then
        raise exception 'Step is not completed' using errcode = 'ZG001', hint = 'only a completed step can be reopened';
    end if;
    taken := planner.take_back_xp(p_act, old_step.xp_entry_id);
    update planner.steps x
       set completed_at = null, xp_entry_id = null, version = x.version + 1, updated_at = platform.now()
     where x.workspace_id = p_act.workspace_id and x.step_id = old_step.step_id
    returning * into step;
    perform planner.add_change(p_act, 'step', step.step_id, to_jsonb(old_step), to_jsonb(step));
    return planner.outcome('step', step.step_id, step.title, planner.show_step(old_step), planner.show_step(step),
                           taken.amount);
end
$$;
