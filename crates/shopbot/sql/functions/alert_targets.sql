-- Who is told of alerts: the chat that each bot of a workspace names for it, through the bot itself.
-- See ops.alert_targets.
create or replace function shopbot.alert_targets(p_workspace_id uuid)
returns table (kind text, address text, credential text) language sql stable as $$
    select b.provider, b.alert_chat_id, r.secret_ref
      from shopbot.bots b join core.bots r on r.workspace_id = b.workspace_id and r.bot_id = b.bot_id
     where b.workspace_id = p_workspace_id and b.alert_chat_id is not null
$$;
