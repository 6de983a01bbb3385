-- habit.mark_completed: the habit was done on this day, and its XP is given. The habit itself does not change: marks of
-- different days do not make each other's previews stale.
-- Raises ZG001.
create or replace function planner.mark_habit(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    habit constant planner.habits := planner.find_habit(p_act, (p_params->>'habit_id')::bigint);
    on_day constant date := coalesce((p_params->>'date')::date, planner.today(p_act.workspace_id, p_act.person_id));
    mark planner.marks;
    given planner.xp_entries;
begin
    if habit.archived_at is not null then
        raise exception 'Habit is archived' using errcode = 'ZG001',
            hint = 'an archived habit is over; create a new one';
    elsif on_day > planner.today(p_act.workspace_id, p_act.person_id) then
        -- The preview saw to it, but where the person is may have changed since.
        raise exception 'date is in the future' using errcode = 'ZG001',
            hint = format('today is %s where the person is', planner.today(p_act.workspace_id, p_act.person_id));
    elsif exists (select from planner.marks m where m.workspace_id = p_act.workspace_id and m.habit_id = habit.habit_id
                  and m.day = on_day) then
        raise exception 'Habit already completed' using errcode = 'ZG001',
            hint = format('it has its mark for %s; habit.unmark takes it back', on_day);
    end if;
    given := planner.give_xp(p_act, 'habit', habit.habit_id, on_day);
    insert into planner.marks (workspace_id, habit_id, day, person_id, xp_entry_id)
    values (p_act.workspace_id, habit.habit_id, on_day, p_act.person_id, given.entry_id)
    returning * into mark;
    perform planner.add_change(p_act, 'mark', habit.habit_id, null, to_jsonb(mark), on_day);
    return planner.outcome('habit', habit.habit_id, habit.title, planner.show_mark(on_day, false),
                           planner.show_mark(on_day, true), given.amount);
end
$$;
