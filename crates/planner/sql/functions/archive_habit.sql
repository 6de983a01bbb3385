-- habit.archive: the habit is over; its marks and XP stay.
-- Raises ZG001.
create or replace function planner.archive_habit(p_act planner.acts, p_params jsonb)
returns jsonb language plpgsql as $$
declare
    old_habit constant planner.habits := planner.find_habit(p_act, (p_params->>'habit_id')::bigint);
    habit planner.habits;
begin
    if old_habit.archived_at is not null then
        raise exception 'Habit already archived' using errcode = 'ZG001', hint = 'there is nothing left to do';
    end if;
    update planner.habits h set archived_at = platform.now(), version = h.version + 1, updated_at = platform.now()
     where h.workspace_id = p_act.workspace_id and h.habit_id = old_habit.habit_id
    returning * into habit;
    perform planner.add_change(p_act, 'habit', habit.habit_id, to_jsonb(old_habit), to_jsonb(habit));
    return planner.outcome('habit', habit.habit_id, habit.title, planner.show_habit(old_habit),
                           planner.show_habit(habit));
end
$$;
