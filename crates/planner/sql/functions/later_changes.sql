-- The changes by later batches that stand in the way of undoing a batch, the first of them first.
-- A batch and its own undo, both later, leave things as they were and do not count: of each such chain only an odd
-- number does. A goal cannot go while it has steps of a later batch, nor a habit while it has its marks; and no step
-- comes back to a goal that is gone.
create or replace function planner.later_changes(p_workspace_id uuid, p_preview_id uuid)
returns setof planner.changes language sql stable as $$
    with recursive batch as (
        select b.* from planner.previews b where b.workspace_id = p_workspace_id and b.preview_id = p_preview_id
    ), touched as (
        select distinct c.entity, c.entity_id, c.day, false as only_existence from planner.changes c
         where c.workspace_id = p_workspace_id and c.preview_id = p_preview_id
        union
        select k.entity, c.entity_id, null, false from planner.changes c
          join (values ('goal', 'order'), ('habit', 'mark')) k (of_entity, entity) on k.of_entity = c.entity
         where c.workspace_id = p_workspace_id and c.preview_id = p_preview_id and c.before is null
        union
        select k.entity, c.entity_id, null, true from planner.changes c
          join (values ('order', 'goal'), ('mark', 'habit')) k (of_entity, entity) on k.of_entity = c.entity
         where c.workspace_id = p_workspace_id and c.preview_id = p_preview_id
    ), later as (
        select l.* from planner.changes l
         where l.workspace_id = p_workspace_id
           and l.change_id in (
                select x.change_id from touched t
                  join planner.changes x on x.workspace_id = p_workspace_id and x.entity = t.entity
                      and x.entity_id = t.entity_id
                   and x.change_id > (select b.last_change_id from batch b)
                 where (t.day = x.day or t.day is null)
                   and (not t.only_existence or x.before is null or x.after is null))
    ), chain as (
        select distinct l.preview_id as member, l.preview_id as root from later l
        union all
        select c.member, p.undoes from chain c
          join planner.previews p on p.workspace_id = p_workspace_id and p.preview_id = c.root
         where p.undoes is not null
    ), rooted as (
        select c.member, (array_agg(c.root order by p.last_change_id))[1] as root
          from chain c join planner.previews p on p.workspace_id = p_workspace_id and p.preview_id = c.root
         group by c.member
    ), standing as (
        select r.root from rooted r group by r.root having count(*) % 2 = 1
    )
    select l.* from later l join rooted r on r.member = l.preview_id join standing s on s.root = r.root
     order by l.change_id
$$;
