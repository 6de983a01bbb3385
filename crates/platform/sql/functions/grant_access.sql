-- Gives both roles what they need on every table of ours, after each installation. Partitions get nothing:
-- row security is on their parent, so that is the only door. Journals can be read and added to; what belongs to
-- no workspace can only be read by the ordinary role.
create or replace function platform.grant_access(p_schemas text[]) returns void language plpgsql as $$
declare
    found record;
begin
    for found in select unnest(p_schemas) as name loop
        execute format('grant usage on schema %I to beresta_app, beresta_system', found.name);
        execute format('grant usage, select on all sequences in schema %I to beresta_app, beresta_system', found.name);
    end loop;
    for found in
        select format('%I.%I', n.nspname, c.relname) as name,
               exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'append_only') as is_journal,
               c.relrowsecurity as is_workspace_data
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = any (p_schemas) and c.relkind in ('r', 'p', 'v') and not c.relispartition
    loop
        if found.is_journal then
            execute format('revoke update, delete, truncate on %s from beresta_app, beresta_system', found.name);
            execute format('grant select, insert on %s to beresta_app, beresta_system', found.name);
        else
            execute format('grant select, insert, update, delete on %s to beresta_system', found.name);
            -- What belongs to no workspace is the system's to change.
            execute format('revoke all on %s from beresta_app', found.name);
            execute format('grant %s on %s to beresta_app',
                           case when found.is_workspace_data then 'select, insert, update, delete' else 'select' end,
                               found.name);
        end if;
    end loop;
    -- Functions that act as their owner are the system's to call.
    for found in
        select p.oid::regprocedure as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname = any (p_schemas) and p.prosecdef
    loop
        execute format('revoke execute on function %s from public', found.name);
        execute format('grant execute on function %s to beresta_system', found.name);
    end loop;
    if 'bus' = any (p_schemas) then
        -- Whoever reads a snapshot takes its place along.
        grant execute on function bus.position() to beresta_app;
    end if;
end
$$;
