-- Makes a habit what it was before a change, as revert_goal does. No action deletes a habit, but undo of habit.create
-- does, and that can be undone in turn.
-- Raises ZG001.
create or replace function planner.revert_habit(p_act planner.acts, p_change planner.changes)
returns jsonb language plpgsql as $$
declare
    was constant planner.habits := jsonb_populate_record(null::planner.habits, p_change.before);
    old_habit planner.habits;
    habit planner.habits;
begin
    if p_change.after is null then
        habit := was;
        habit.version := was.version + 1;
        habit.updated_at := platform.now();
        insert into planner.habits values (habit.*) returning * into habit;
        perform planner.add_change(p_act, 'habit', habit.habit_id, null, to_jsonb(habit));
        return planner.outcome('habit', habit.habit_id, habit.title, null, planner.show_habit(habit));
    end if;
    old_habit := planner.find_habit(p_act, p_change.entity_id);
    if p_change.before is null then
        delete from planner.habits h where h.workspace_id = p_act.workspace_id and h.habit_id = old_habit.habit_id;
        perform planner.add_change(p_act, 'habit', old_habit.habit_id, to_jsonb(old_habit), null);
        return planner.outcome('habit', old_habit.habit_id, old_habit.title, planner.show_habit(old_habit), null);
    end if;
    update planner.habits h
       set title = was.title, description = was.description, category = was.category, days = was.days,
           archived_at = was.archived_at,
           version = h.version + 1, updated_at = platform.now()
     where h.workspace_id = p_act.workspace_id and h.habit_id = old_habit.habit_id
    returning * into habit;
    perform planner.add_change(p_act, 'habit', habit.habit_id, to_jsonb(old_habit), to_jsonb(habit));
    return planner.outcome('habit', habit.habit_id, old_habit.title, planner.show_habit(old_habit),
                           planner.show_habit(habit));
end
$$;
