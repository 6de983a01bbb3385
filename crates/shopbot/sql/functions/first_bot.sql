-- The bot that a workspace has in a messenger or, of several, the first one that it had.
create or replace function shopbot.first_bot(p_workspace_id uuid, p_provider text)
returns uuid language sql stable as $$
    select b.bot_id from shopbot.bots b
     where b.workspace_id = p_workspace_id and b.provider = p_provider order by b.created_at, b.bot_id limit 1
$$;
