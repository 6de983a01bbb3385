-- The day that it is where the person is.
create or replace function planner.today(p_workspace_id uuid, p_person_id bigint) returns date language sql stable as $$
    select (platform.now() at time zone p.time_zone)::date from planner.people p
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id
$$;
