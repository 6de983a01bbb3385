-- A habit with its streaks and the days on which it was done last, newest first; null when the person has no such
-- habit.
create or replace function planner.read_habit(
    p_workspace_id uuid, p_person_id bigint, p_habit_id bigint, p_marks_max int default 60
) returns jsonb language sql stable as $$
    select planner.show_habit_today(h, planner.today(p_workspace_id, p_person_id)) || jsonb_build_object(
               'today', planner.today(p_workspace_id, p_person_id),
               'completed_dates', coalesce((
                   select jsonb_agg(m.day order by m.day desc)
                     from (select m.day from planner.marks m where m.workspace_id = h.workspace_id
                           and m.habit_id = h.habit_id
                            order by m.day desc limit p_marks_max) m), '[]'))
      from planner.habits h
     where h.workspace_id = p_workspace_id and h.person_id = p_person_id and h.habit_id = p_habit_id
$$;
