-- The steps of a person, or of one goal, by their ids: {steps, next} as list_goals does. Null when the person has no
-- such goal.
create or replace function planner.list_steps(
    p_workspace_id uuid, p_person_id bigint, p_goal_id bigint default null, p_status text default 'all',
    p_limit int default 50,
    p_after bigint default null
) returns jsonb language sql stable as $$
    with page as (
        select s.step_id, s as step from planner.steps s
         where s.workspace_id = p_workspace_id and s.person_id = p_person_id
           and (p_after is null or s.step_id > p_after)
           and (p_goal_id is null or s.goal_id = p_goal_id)
           and (p_status = 'all' or (p_status = 'completed') = (s.completed_at is not null))
         order by s.step_id limit p_limit + 1
    ), shown as (
        select p.step_id, planner.show_step(p.step) as step from page p order by p.step_id limit p_limit
    ), answer as (
        select jsonb_build_object('steps', coalesce(jsonb_agg(s.step order by s.step_id), '[]'),
                                  'next', case when (select count(*) from page) > p_limit then max(s.step_id) end)
                                      as body
          from shown s
    )
    select a.body from answer a
     where p_goal_id is null or exists (select from planner.goals g where g.workspace_id = p_workspace_id
                                           and g.person_id = p_person_id and g.goal_id = p_goal_id)
$$;
