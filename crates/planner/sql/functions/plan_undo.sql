-- How an applied batch is undone: its actions from the last to the first, each with its changes, and what to look at.
-- Returns {actions, looks}. Nothing is changed.
-- Raises ZG012 when the person has no such batch, ZG017 when the preview was not applied, ZG018 when it was undone,
-- ZG016 (its detail lists the changes) when later changes stand in the way.
create or replace function planner.plan_undo(p_workspace_id uuid, p_person_id bigint, p_preview_id uuid)
returns jsonb language plpgsql as $$
declare
    batch planner.previews;
    in_the_way jsonb;
    last_word uuid;
    times_undone int;
begin
    select * into batch from planner.previews p
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.preview_id = p_preview_id;
    if not found then
        raise exception 'Preview not found' using errcode = 'ZG012',
            hint = 'get_history tells which batches were applied';
    elsif batch.status <> 'applied' then
        raise exception 'Preview not applied' using errcode = 'ZG017', hint = 'only what was applied can be undone';
    elsif batch.undone_by is not null then
        with recursive undoing as (
            select batch.undone_by as preview_id, 1 as times
            union all
            select p.undone_by, u.times + 1 from undoing u
              join planner.previews p on p.workspace_id = p_workspace_id and p.preview_id = u.preview_id
                  and p.undone_by is not null
        )
        select u.preview_id, u.times into last_word, times_undone from undoing u order by u.times desc limit 1;
        raise exception 'Preview already undone' using errcode = 'ZG018',
            hint = case when times_undone % 2 = 1
                then format('to have its changes back, undo %s, which undid it last', last_word)
                        else format('its changes were made again by %s: undo that', last_word) end;
    end if;
    select jsonb_agg(x.found) into in_the_way
      from (select jsonb_build_object('preview_id', l.preview_id, 'action', l.action, 'entity', l.entity,
                                      'id', l.entity_id,
                       'title', coalesce(l.after->>'title', l.before->>'title', h.title, g.title), 'date', l.day,
                       'at', platform.stamp(l.created_at)) as found
              from planner.later_changes(p_workspace_id, p_preview_id) l
              left join planner.habits h on l.entity = 'mark' and h.workspace_id = l.workspace_id
                  and h.habit_id = l.entity_id
              left join planner.goals g on l.entity = 'order' and g.workspace_id = l.workspace_id
                  and g.goal_id = l.entity_id
             order by l.change_id limit 10) x;
    if in_the_way is not null then
        raise exception 'Undo prevented by a later change' using errcode = 'ZG016', detail = in_the_way::text,
            hint = 'undo the later changes first, the last one first';
    end if;
    return (
        with changes as (
            select c.*, case c.entity when 'order' then 'goal' when 'mark' then 'habit' else c.entity end as thing
              from planner.changes c where c.workspace_id = p_workspace_id and c.preview_id = p_preview_id
        ), steps_back as (
            -- The order of steps comes when all of them are there.
            select c.action_index, c.action,
                   jsonb_agg(c.change_id order by c.entity = 'order', c.change_id desc) as ids,
                   jsonb_agg(distinct jsonb_build_object('entity', c.thing, 'id', c.entity_id)) as touches
              from changes c group by c.action_index, c.action
        ), looks as (
            select distinct c.entity_id as id, c.thing as entity from changes c
        )
        select jsonb_build_object(
            'actions', (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                    'action', case when s.action ~ '^undo ' then 'redo ' || substr(s.action, 6)
                                   when s.action ~ '^redo ' then 'undo ' || substr(s.action, 6)
                                   else 'undo ' || s.action end,
                    'client_action_id', batch.actions->s.action_index->>'client_action_id',
                    'params', jsonb_build_object('change_ids', s.ids, 'touches', s.touches)))
                        order by s.action_index desc)
                  from steps_back s),
            'looks', (select jsonb_agg(jsonb_build_object('entity', l.entity, 'id', l.id,
                    'with', (select 'order' from changes c where c.entity = 'order' and c.entity_id = l.id
                             and l.entity = 'goal' limit 1))
                    order by l.entity, l.id)
                  from looks l)));
end
$$;
