-- How many due days in a row a habit was done: {current, longest}. A day on which it is not due neither makes nor
-- breaks a streak, and today breaks none while it is not over.
-- Due days are counted and not listed (planner.due_days), so that a mark of long ago costs no more than one of
-- yesterday.
create or replace function planner.streak(p_workspace_id uuid, p_habit_id bigint, p_today date)
returns jsonb language sql stable as $$
    with habit as (
        select h.days from planner.habits h where h.workspace_id = p_workspace_id and h.habit_id = p_habit_id
    ), done as (
        select planner.due_days(h.days, m.day) as place
          from habit h
          join planner.marks m on m.workspace_id = p_workspace_id and m.habit_id = p_habit_id
         where m.day <= p_today and extract(isodow from m.day)::smallint = any (h.days)
    ), runs as (
        -- Days in a row have places in a row, so that these differ from their numbers by the same.
        select count(*) as days, max(n.place) as last_place
          from (select d.place, d.place - row_number() over (order by d.place) as run from done d) n group by n.run
    )
    select jsonb_build_object(
        'current', coalesce((select r.days from runs r, habit h
                             where r.last_place >= planner.due_days(h.days, p_today - 1)
                              order by r.last_place desc limit 1), 0),
        'longest', coalesce((select max(r.days) from runs r), 0))
$$;
