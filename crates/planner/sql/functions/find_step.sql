-- The person's own step; another's is not found, as one that never was.
-- Raises ZG001.
create or replace function planner.find_step(p_act planner.acts, p_id bigint)
returns planner.steps language plpgsql as $$
declare
    step planner.steps;
begin
    select * into step from planner.steps x
     where x.workspace_id = p_act.workspace_id and x.step_id = p_id and x.person_id = p_act.person_id;
    if not found then
        raise exception 'Step not found' using errcode = 'ZG001', hint = 'list_steps tells which there are';
    end if;
    return step;
end
$$;
