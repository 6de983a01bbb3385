-- The XP of a person: {total, by_kind, today, time_zone, by_day, recent}. Days are the person's own, the last thirty,
-- without those on which nothing came or went.
create or replace function planner.read_xp(p_workspace_id uuid, p_person_id bigint, p_recent_max int default 20)
returns jsonb language sql stable as $$
    select jsonb_build_object(
        'total', planner.total_xp(p_workspace_id, p_person_id),
        'by_kind', (select jsonb_object_agg(k.kind, coalesce((
                        select sum(e.amount) from planner.xp_entries e
                         where e.workspace_id = p_workspace_id and e.person_id = p_person_id and e.entity = k.kind), 0))
                      from unnest(array['goal', 'step', 'habit']) k (kind)),
        'today', t.today, 'time_zone', p.time_zone,
        'by_day', coalesce((
            select jsonb_agg(jsonb_build_object('date', d.day, 'xp', d.xp) order by d.day)
              from (select (e.created_at at time zone p.time_zone)::date as day, sum(e.amount) as xp
                      from planner.xp_entries e
                     where e.workspace_id = p_workspace_id and e.person_id = p_person_id
                       and e.created_at >= (t.today - 29)::timestamp at time zone p.time_zone
                     group by 1) d), '[]'),
        'recent', coalesce((
            select jsonb_agg(jsonb_build_object('entry_id', r.entry_id, 'amount', r.amount, 'entity', r.entity,
                                                'id', r.entity_id, 'date', r.day,
                       'takes_back', r.takes_back, 'preview_id', r.preview_id,
                       'created_at', platform.stamp(r.created_at)) order by r.entry_id desc)
              from (select e.* from planner.xp_entries e where e.workspace_id = p_workspace_id
                    and e.person_id = p_person_id
                     order by e.entry_id desc limit p_recent_max) r), '[]'))
      from planner.people p cross join lateral (select planner.today(p_workspace_id, p_person_id) as today) t
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id
$$;
