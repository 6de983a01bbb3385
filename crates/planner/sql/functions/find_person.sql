-- The person of this name, who begins with the first call.
create or replace function planner.find_person(p_workspace_id uuid, p_name text) returns bigint language plpgsql as $$
declare
    found_id bigint;
begin
    loop
        select p.person_id into found_id from planner.people p where p.workspace_id = p_workspace_id
           and p.name = p_name;
        exit when found;
        insert into planner.people (workspace_id, name) values (p_workspace_id, p_name)
            on conflict (workspace_id, name) do nothing returning person_id into found_id;
        if found then
            perform ops.append_journal(p_workspace_id, 'planner', 'person_began', found_id::text);
            exit;
        end if;
    end loop;
    return found_id;
end
$$;
