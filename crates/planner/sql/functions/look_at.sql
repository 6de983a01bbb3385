-- The versions of what a batch names. A look is {entity, id, with}: with `order` the list of steps that the thing
-- stands in (a step) or has (a goal) tells its version too, with `steps` also every step of the goal. A look at
-- {entity: mark, id, date} is at one day of a habit, whose version is how often it was marked or unmarked. Returns the
-- looks in their order, each with {title, version, …}; the version of what is not there is null.
create or replace function planner.look_at(p_workspace_id uuid, p_person_id bigint, p_looks jsonb)
returns jsonb language sql stable as $$
    select coalesce(jsonb_agg(l.look
               || jsonb_build_object('title', coalesce(g.title, s.title, h.title),
                                     'version', coalesce(g.version, s.version, m.version, h.version))
               || case when l.look->>'with' in ('order', 'steps') and o.goal_id is not null
                       then jsonb_build_object('steps_version', o.steps_version, 'goal_id', o.goal_id,
                                               'goal_title', o.title) else '{}' end
               || case when l.look->>'with' = 'steps' and g.goal_id is not null
                       then jsonb_build_object('steps', coalesce((
                                select jsonb_agg(jsonb_build_object('id', x.step_id, 'title', x.title,
                                                                    'version', x.version) order by x."order")
                                  from planner.steps x where x.workspace_id = p_workspace_id and x.goal_id = g.goal_id),
                                      '[]'))
                       else '{}' end
               order by l.place), '[]')
      from jsonb_array_elements(p_looks) with ordinality l (look, place)
      left join planner.goals g on l.look->>'entity' = 'goal' and g.workspace_id = p_workspace_id
            and g.goal_id = (l.look->>'id')::bigint and g.person_id = p_person_id
      left join planner.steps s on l.look->>'entity' = 'step' and s.workspace_id = p_workspace_id
            and s.step_id = (l.look->>'id')::bigint and s.person_id = p_person_id
      left join planner.habits h on l.look->>'entity' in ('habit', 'mark') and h.workspace_id = p_workspace_id
            and h.habit_id = (l.look->>'id')::bigint and h.person_id = p_person_id
      left join lateral (
            select count(c.change_id) as version from planner.changes c
             where c.workspace_id = p_workspace_id and c.entity = 'mark' and c.entity_id = h.habit_id
               and c.day = (l.look->>'date')::date
           ) m on l.look->>'entity' = 'mark' and h.habit_id is not null
      left join planner.goals o on o.workspace_id = p_workspace_id and o.goal_id = coalesce(g.goal_id, s.goal_id)
$$;
