-- The bots whose updates are to be asked for, over all workspaces.
create or replace function knowledge.polling_bots()
returns table (workspace_id uuid, bot_id uuid, secret_ref text, serves text) language sql stable as $$
    select b.workspace_id, b.bot_id, b.secret_ref, b.serves
      from core.bot_transport_state s
      join core.bots b on (b.workspace_id, b.bot_id) = (s.workspace_id, s.bot_id)
      join core.workspaces w on w.workspace_id = b.workspace_id and w.status = 'active'
     where s.mode = 'polling' and b.enabled and b.provider = 'telegram'
$$;
