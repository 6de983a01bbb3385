-- How alerts name a bot: by its messenger and, where the workspace has several in it, by its own name too.
create or replace function shopbot.bot_subject(p_workspace_id uuid, p_bot_id uuid)
returns text language sql stable as $$
    select case when (select count(*) from shopbot.bots o
                       where o.workspace_id = r.workspace_id and o.provider = r.provider) > 1
                then r.provider || ' ' || r.name else r.provider end
      from core.bots r where r.workspace_id = p_workspace_id and r.bot_id = p_bot_id
$$;
