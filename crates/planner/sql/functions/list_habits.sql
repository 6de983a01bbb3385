-- The habits of a person by their ids, with their streaks: {habits, today, next} as list_goals does.
create or replace function planner.list_habits(
    p_workspace_id uuid, p_person_id bigint, p_include_archived boolean default false, p_limit int default 50,
    p_after bigint default null
) returns jsonb language sql stable as $$
    with today as (
        select planner.today(p_workspace_id, p_person_id) as day
    ), page as (
        select h.habit_id, h as habit from planner.habits h
         where h.workspace_id = p_workspace_id and h.person_id = p_person_id
           and (p_after is null or h.habit_id > p_after)
           and (p_include_archived or h.archived_at is null)
         order by h.habit_id limit p_limit + 1
    ), shown as (
        select p.habit_id, planner.show_habit_today(p.habit, t.day) as habit
          from page p cross join today t order by p.habit_id limit p_limit
    )
    select jsonb_build_object('habits', coalesce(jsonb_agg(s.habit order by s.habit_id), '[]'),
                              'today', (select t.day from today t),
                              'next', case when (select count(*) from page) > p_limit then max(s.habit_id) end)
      from shown s
$$;
