-- The person's own goal; another's is not found, as one that never was.
-- Raises ZG001.
create or replace function planner.find_goal(p_act planner.acts, p_id bigint)
returns planner.goals language plpgsql as $$
declare
    goal planner.goals;
begin
    select * into goal from planner.goals x
     where x.workspace_id = p_act.workspace_id and x.goal_id = p_id and x.person_id = p_act.person_id;
    if not found then
        raise exception 'Goal not found' using errcode = 'ZG001', hint = 'list_goals tells which there are';
    end if;
    return goal;
end
$$;
