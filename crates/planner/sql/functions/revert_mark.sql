-- Makes a day of a habit what it was before a change: the mark goes and its XP is taken back, or it comes back with XP
-- given again. Raises ZG001.
create or replace function planner.revert_mark(p_act planner.acts, p_change planner.changes)
returns jsonb language plpgsql as $$
declare
    habit constant planner.habits := planner.find_habit(p_act, p_change.entity_id);
    mark planner.marks;
    award record;
begin
    if p_change.after is null then
        mark := jsonb_populate_record(null::planner.marks, p_change.before);
        award := planner.award_to_keep(p_act, p_change, true, null);
        mark.xp_entry_id := award.entry_id;
        insert into planner.marks values (mark.*) returning * into mark;
        perform planner.add_change(p_act, 'mark', mark.habit_id, null, to_jsonb(mark), mark.day);
    else
        delete from planner.marks m
         where m.workspace_id = p_act.workspace_id and m.habit_id = p_change.entity_id and m.day = p_change.day
        returning * into mark;
        if not found then
            raise exception 'Habit is not completed' using errcode = 'ZG001',
                hint = format('it has no mark for %s', p_change.day);
        end if;
        award := planner.award_to_keep(p_act, p_change, false, mark.xp_entry_id);
        perform planner.add_change(p_act, 'mark', mark.habit_id, to_jsonb(mark), null, mark.day);
    end if;
    return planner.outcome('habit', habit.habit_id, habit.title,
                           planner.show_mark(p_change.day, p_change.after is not null),
        planner.show_mark(p_change.day, p_change.after is null), award.xp);
end
$$;
