-- The goals of a person by their ids: {goals, next}. `next` is what to give as `after` for the goals that follow, null
-- at the end.
create or replace function planner.list_goals(
    p_workspace_id uuid, p_person_id bigint, p_status text default 'all', p_category text default null,
    p_limit int default 50,
    p_after bigint default null
) returns jsonb language sql stable as $$
    with page as (
        select g.goal_id, g as goal from planner.goals g
         where g.workspace_id = p_workspace_id and g.person_id = p_person_id
           and (p_after is null or g.goal_id > p_after)
           and (p_status = 'all' or (p_status = 'completed') = (g.completed_at is not null))
           and (p_category is null or g.category = p_category)
         order by g.goal_id limit p_limit + 1
    ), shown as (
        select p.goal_id, planner.show_goal(p.goal) || (
                   select jsonb_build_object('steps_total', count(*), 'steps_completed', count(s.completed_at))
                     from planner.steps s
                    where s.workspace_id = p_workspace_id and s.goal_id = p.goal_id) as goal
          from page p order by p.goal_id limit p_limit
    )
    select jsonb_build_object('goals', coalesce(jsonb_agg(s.goal order by s.goal_id), '[]'),
                              'next', case when (select count(*) from page) > p_limit then max(s.goal_id) end)
      from shown s
$$;
