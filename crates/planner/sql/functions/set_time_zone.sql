-- Sets where the person's day begins. Returns {time_zone, today}.
-- Raises ZG003 (with the nearest names as its hint) for a zone that nobody knows.
create or replace function planner.set_time_zone(
    p_workspace_id uuid, p_person_id bigint, p_time_zone text, p_trace_id text default null
) returns jsonb language plpgsql as $$
begin
    perform planner.take_turn(p_workspace_id, p_person_id);
    if not exists (select from pg_timezone_names z where z.name = p_time_zone) then
        raise exception 'Unknown time zone' using errcode = 'ZG003', column = 'time_zone',
            hint = platform.near_names(left(p_time_zone, 64),
                array(select z.name from pg_timezone_names z where z.name ~ '/' or z.name = 'UTC'));
    end if;
    update planner.people p set time_zone = p_time_zone
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.time_zone <> p_time_zone;
    if found then
        perform ops.append_journal(p_workspace_id, 'planner', 'time_zone_set', p_person_id::text, p_trace_id,
            jsonb_build_object('time_zone', p_time_zone));
    end if;
    return jsonb_build_object('time_zone', p_time_zone, 'today', planner.today(p_workspace_id, p_person_id));
end
$$;
