-- The person's own habit; another's is not found, as one that never was.
-- Raises ZG001.
create or replace function planner.find_habit(p_act planner.acts, p_id bigint)
returns planner.habits language plpgsql as $$
declare
    habit planner.habits;
begin
    select * into habit from planner.habits x
     where x.workspace_id = p_act.workspace_id and x.habit_id = p_id and x.person_id = p_act.person_id;
    if not found then
        raise exception 'Habit not found' using errcode = 'ZG001', hint = 'list_habits tells which there are';
    end if;
    return habit;
end
$$;
