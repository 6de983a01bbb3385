-- An applied batch as answers write it: its actions, each with what it named and what it was worth.
create or replace function planner.show_batch(p_batch planner.previews) returns jsonb language sql stable as $$
    with named as (
        -- The thing that an action names is of the kind that the action says; what changed with it comes after.
        select distinct on (c.action_index) c.*
          from planner.changes c
         where c.workspace_id = p_batch.workspace_id and c.preview_id = p_batch.preview_id
         order by c.action_index, (case c.entity when 'mark' then 'habit' else c.entity end) <> substring(c.action
                 from '(\w+)\.'), c.change_id
    )
    select jsonb_build_object(
        'preview_id', p_batch.preview_id, 'applied_at', platform.stamp(p_batch.applied_at), 'undoes', p_batch.undoes,
        'undone_by', p_batch.undone_by, 'xp', p_batch.xp,
        'actions', coalesce((
            select jsonb_agg(jsonb_build_object(
                       'action', n.action, 'client_action_id', p_batch.actions->n.action_index->>'client_action_id',
                       'entity', case n.entity when 'mark' then 'habit' else n.entity end, 'id', n.entity_id,
                       'title', coalesce(coalesce(n.after, n.before)->>'title', (
                           select h.title from planner.habits h where h.workspace_id = n.workspace_id
                              and h.habit_id = n.entity_id
                              and n.entity = 'mark')),
                       'date', n.day,
                       'xp', (select coalesce(sum(e.amount), 0) from planner.xp_entries e
                               where e.workspace_id = n.workspace_id and e.preview_id = n.preview_id
                                 and e.action_index = n.action_index))
                   order by n.action_index)
              from named n), '[]'))
$$;
