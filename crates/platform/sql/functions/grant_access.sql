-- Gives both roles what they need on every table of ours, after each installation. Partitions get nothing:
-- row security is on their parent, so that is the only door. Journals can be read and added to.
create or replace function platform.grant_access(p_schemas text[]) returns void language plpgsql as $$
declare
    found record;
begin
    for found in select unnest(p_schemas) as name loop
        execute format('grant usage on schema %I to beresta_app, beresta_system', found.name);
        execute format('grant usage on all sequences in schema %I to beresta_app, beresta_system', found.name);
    end loop;
    for found in
        select format('%I.%I', n.nspname, c.relname) as name,
               exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'append_only') as is_journal
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = any (p_schemas) and c.relkind in ('r', 'p', 'v') and not c.relispartition
    loop
        if found.is_journal then
            execute format('revoke update, delete, truncate on %s from beresta_app, beresta_system', found.name);
            execute format('grant select, insert on %s to beresta_app, beresta_system', found.name);
        else
            execute format('grant select, insert, update, delete on %s to beresta_app, beresta_system', found.name);
        end if;
    end loop;
end
$$;
