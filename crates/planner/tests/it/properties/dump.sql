-- Everything that one person ($2) has, as the model shows it. `crooked` names what is completed or marked without an award of its own that
-- nobody took back; there is never any.
with awards as (
    select 'goal' as entity, goal_id as entity_id, null::date as day, xp_entry_id from planner.goals
     where workspace_id = $1 and person_id = $2 and completed_at is not null
    union all
    select 'step', step_id, null, xp_entry_id from planner.steps where workspace_id = $1 and person_id = $2 and completed_at is not null
    union all
    select 'habit', habit_id, day, xp_entry_id from planner.marks where workspace_id = $1 and person_id = $2
)
select jsonb_build_object(
    'goals', (
        select coalesce(jsonb_object_agg(g.goal_id, jsonb_build_object(
                   'title', g.title, 'description', g.description, 'category', g.category, 'priority', g.priority, 'due_date', g.due_date,
                   'is_completed', g.completed_at is not null,
                   'steps', (select coalesce(jsonb_agg(jsonb_build_array(s."order", s.step_id) order by s."order"), '[]') from planner.steps s
                              where s.workspace_id = g.workspace_id and s.goal_id = g.goal_id))), '{}')
          from planner.goals g where g.workspace_id = $1 and g.person_id = $2),
    'steps', (
        select coalesce(jsonb_object_agg(s.step_id, jsonb_build_object(
                   'title', s.title, 'description', s.description, 'priority', s.priority, 'due_date', s.due_date,
                   'is_completed', s.completed_at is not null, 'goal_id', s.goal_id)), '{}')
          from planner.steps s where s.workspace_id = $1 and s.person_id = $2),
    'habits', (
        select coalesce(jsonb_object_agg(h.habit_id, jsonb_build_object(
                   'title', h.title, 'description', h.description, 'category', h.category, 'days', to_jsonb(h.days),
                   'is_archived', h.archived_at is not null,
                   'marks', (select coalesce(jsonb_agg(m.day order by m.day), '[]') from planner.marks m
                              where m.workspace_id = h.workspace_id and m.habit_id = h.habit_id))), '{}')
          from planner.habits h where h.workspace_id = $1 and h.person_id = $2),
    'ledger', (
        select coalesce(jsonb_object_agg(entity || ' ' || entity_id, xp), '{}')
          from (select entity, entity_id, sum(amount) as xp from planner.xp_entries where workspace_id = $1 and person_id = $2
                 group by entity, entity_id) l),
    'xp', (select coalesce(sum(amount), 0) from planner.xp_entries where workspace_id = $1 and person_id = $2),
    'crooked', (
        select coalesce(jsonb_agg(to_jsonb(a)), '[]') from awards a
         where not exists (
                select from planner.xp_entries e
                 where e.workspace_id = $1 and e.person_id = $2 and e.entry_id = a.xp_entry_id and e.amount > 0
                   and (e.entity, e.entity_id) = (a.entity, a.entity_id) and e.day is not distinct from a.day
                   and not exists (select from planner.xp_entries t where t.workspace_id = $1 and t.takes_back = e.entry_id)))
)
