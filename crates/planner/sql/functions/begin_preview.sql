-- The turn of the person, and what a preview has to know: {preview_id, expires_at, today, time_zone, xp}. A preview
-- lives for five minutes.
create or replace function planner.begin_preview(p_workspace_id uuid, p_person_id bigint)
returns jsonb language plpgsql as $$
begin
    perform planner.take_turn(p_workspace_id, p_person_id);
    return (select jsonb_build_object(
                'preview_id', gen_random_uuid(), 'expires_at', platform.stamp(platform.now() + interval '5 minutes'),
                'today', planner.today(p_workspace_id, p_person_id), 'time_zone', p.time_zone, 'xp',
                    planner.total_xp(p_workspace_id, p_person_id))
              from planner.people p where p.workspace_id = p_workspace_id and p.person_id = p_person_id);
end
$$;
