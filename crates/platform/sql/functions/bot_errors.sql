-- The errors that keep bots from saying what they have to say, in one workspace or, given null, in all. A module whose
-- bots send supplies MODULE.bot_errors(workspace) with the same columns: the bot, since when what could not be sent
-- waits, and the error of its last attempt.
create or replace function ops.bot_errors(p_workspace_id uuid)
returns table (workspace_id uuid, bot_id uuid, since timestamptz, error jsonb) language plpgsql stable as $$
declare
    module text;
begin
    for module in
        select n.nspname::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where p.proname = 'bot_errors' and n.nspname <> 'ops' and p.pronargs = 1
           and p.proargtypes[0] = 'uuid'::regtype
         order by 1
    loop
        return query execute
            format('select e.workspace_id, e.bot_id, e.since, e.error from %I.bot_errors($1) e', module)
            using p_workspace_id;
    end loop;
end
$$;
