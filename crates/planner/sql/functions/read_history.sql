-- The batches of a person, newest first: {batches, next}. `next` is what to give as `after` for older ones, null at the
-- end.
create or replace function planner.read_history(
    p_workspace_id uuid, p_person_id bigint, p_limit int default 20, p_after bigint default null
) returns jsonb language sql stable as $$
    with page as (
        select p.last_change_id, p as batch from planner.previews p
         where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.status = 'applied'
           and (p_after is null or p.last_change_id < p_after)
         order by p.last_change_id desc limit p_limit + 1
    ), shown as (
        select p.last_change_id, planner.show_batch(p.batch) as batch
          from page p order by p.last_change_id desc limit p_limit
    )
    select jsonb_build_object('batches', coalesce(jsonb_agg(s.batch order by s.last_change_id desc), '[]'),
                              'next', case when (select count(*) from page) > p_limit then min(s.last_change_id) end)
      from shown s
$$;
