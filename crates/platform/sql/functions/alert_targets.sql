-- Who is told of an alert of a module: the targets that the module itself has in the workspace or, if it has none,
-- those of all modules.
-- Of the system workspace, if no module has any there, every workspace is told: what troubles the installation
-- troubles all of them.
-- A module that has targets supplies MODULE.alert_targets(workspace) with the same columns: kind (telegram, max,
-- email), address and, for a messenger, the reference to the token.
create or replace function ops.alert_targets(p_workspace_id uuid, p_module text)
returns table (kind text, address text, credential text) language plpgsql as $$
declare
    modules constant text[] := array(
        select n.nspname::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where p.proname = 'alert_targets' and p.proargtypes[0] = 'uuid'::regtype and p.pronargs = 1 order by 1);
    asked text;
    has_any boolean := false;
begin
    foreach asked in array array(select m from unnest(modules) m where m = p_module) || modules loop
        return query execute format('select t.kind, t.address, t.credential from %I.alert_targets($1) t', asked)
            using p_workspace_id;
        has_any := has_any or found;
        if found and asked = p_module then
            return;
        end if;
    end loop;
    if not has_any and p_workspace_id = '00000000-0000-0000-0000-000000000000' then
        return query select distinct t.kind, t.address, t.credential
                       from core.workspaces w cross join lateral ops.alert_targets(w.workspace_id, p_module) t
                      where w.workspace_id <> p_workspace_id;
    end if;
end
$$;
