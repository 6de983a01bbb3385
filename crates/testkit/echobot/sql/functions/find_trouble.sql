-- What is wrong with the echo bot now, in one workspace or, given null, in all; see ops.check_alerts.
--   dead_echoes  messages that could not be repeated in the last hour, by bot
create or replace function echobot.find_trouble(p_workspace_id uuid)
returns setof ops.findings language sql stable as $$
    select e.workspace_id, 'dead_echoes', b.name, count(*), max(e.last_error->>'code'), min(e.created_at),
           max(e.last_error->>'message'), null::interval
      from echobot.echoes e join core.bots b on b.workspace_id = e.workspace_id and b.bot_id = e.bot_id
     where (p_workspace_id is null or e.workspace_id = p_workspace_id)
       and e.status = 'dead' and e.created_at > platform.now() - interval '1 hour'
     group by e.workspace_id, b.name
$$;
