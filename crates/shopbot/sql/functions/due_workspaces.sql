-- The workspaces with an unfinished answer of an enabled bot, for a sender to go round. p_known are those that it
-- visits anyway.
create or replace function shopbot.due_workspaces(p_known uuid[] default '{}') returns setof uuid language sql stable
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    select distinct b.workspace_id
      from shopbot.bots b
      join core.bots r on r.workspace_id = b.workspace_id and r.bot_id = b.bot_id and r.enabled
      join core.workspaces w on w.workspace_id = b.workspace_id and w.status = 'active'
     where b.workspace_id <> all (p_known)
       and exists (select from shopbot.bot_outbox o
                    where o.workspace_id = b.workspace_id and o.bot_id = b.bot_id and o.phase = 'open')
     order by b.workspace_id
$$;
