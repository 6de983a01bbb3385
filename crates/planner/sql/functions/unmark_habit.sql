-- habit.unmark: the habit was not done on this day after all, and exactly the XP that was given for it is taken back.
-- Raises ZG001.
create or replace function planner.unmark_habit(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    habit constant planner.habits := planner.find_habit(p_act, (p_params->>'habit_id')::bigint);
    on_day constant date := coalesce((p_params->>'date')::date, planner.today(p_act.workspace_id, p_act.person_id));
    mark planner.marks;
    taken planner.xp_entries;
begin
    delete from planner.marks m where m.workspace_id = p_act.workspace_id and m.habit_id = habit.habit_id
       and m.day = on_day
    returning * into mark;
    if not found then
        raise exception 'Habit is not completed' using errcode = 'ZG001',
            hint = format('it has no mark for %s', on_day);
    end if;
    taken := planner.take_back_xp(p_act, mark.xp_entry_id);
    perform planner.add_change(p_act, 'mark', habit.habit_id, to_jsonb(mark), null, on_day);
    return planner.outcome('habit', habit.habit_id, habit.title, planner.show_mark(on_day, true),
                           planner.show_mark(on_day, false), taken.amount);
end
$$;
