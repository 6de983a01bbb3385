-- Makes a workspace, or returns the one of that name.
create or replace function core.create_workspace(p_name text) returns uuid language plpgsql as $$
declare
    new_id uuid := gen_random_uuid();
begin
    insert into core.workspaces (workspace_id, name) values (new_id, p_name) on conflict (name) do nothing;
    if not found then
        return (select workspace_id from core.workspaces where name = p_name);
    end if;
    perform ops.append_journal(new_id, 'core', 'workspace_created', p_name);
    return new_id;
end
$$;
