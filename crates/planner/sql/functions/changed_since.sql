-- What a preview saw and is different now: {entity, id, title, part, date, step_id, goal_id, previewed_version,
-- current_version} each, null when nothing is. `part` is `steps` when not the goal itself changed but the list of its
-- steps, and `mark` when not the habit but its mark for `date`; step_id or goal_id says through what it was seen. What
-- is gone does not count: the action that names it says so in its own words.
create or replace function planner.changed_since(p_seen jsonb, p_now jsonb) returns jsonb language sql immutable as $$
    with looks as (
        select s.seen, n.now, s.place from jsonb_array_elements(p_seen) with ordinality s (seen, place)
          join jsonb_array_elements(p_now) with ordinality n (now, place) using (place)
    ), found as (
        select l.place, 1 as part_place, case l.now->>'entity' when 'mark' then 'habit'
            else l.now->>'entity' end as entity, l.now->'id' as id,
               l.now->'title' as title, case l.now->>'entity' when 'mark' then 'mark' end as part,
                   l.now->'date' as date, null::jsonb as step_id, null::jsonb as goal_id,
               l.seen->'version' as seen_version, l.now->'version' as now_version
          from looks l
        union all
        select l.place, 2, 'goal', l.now->'goal_id', l.now->'goal_title', 'steps', null,
               case l.now->>'entity' when 'step' then l.now->'id' end, null, l.seen->'steps_version',
                   l.now->'steps_version'
          from looks l
        union all
        select l.place, 3, 'step', n.step->'id', n.step->'title', null, null, null, l.now->'id', s.step->'version',
               n.step->'version'
          from looks l cross join jsonb_array_elements(l.seen->'steps') s (step)
          join jsonb_array_elements(l.now->'steps') n (step)
            on n.step->'id' = s.step->'id'
    )
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                   'entity', f.entity, 'id', f.id, 'title', f.title, 'part', f.part, 'date', f.date, 'step_id',
                       f.step_id, 'goal_id', f.goal_id,
                   'previewed_version', f.seen_version, 'current_version', f.now_version))
               order by f.place, f.part_place, f.id)
      from found f
     where jsonb_typeof(f.seen_version) = 'number' and jsonb_typeof(f.now_version) = 'number'
       and f.seen_version <> f.now_version
$$;
