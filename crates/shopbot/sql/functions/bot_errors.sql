-- What keeps the bots from answering: the last errors of answers that wait. See ops.bot_errors.
create or replace function shopbot.bot_errors(p_workspace_id uuid)
returns table (workspace_id uuid, bot_id uuid, since timestamptz, error jsonb) language sql stable as $$
    select b.workspace_id, b.bot_id, o.created_at, o.last_error
      from shopbot.bots b
     cross join lateral (select x.created_at, x.last_error from shopbot.bot_outbox x
                          where x.workspace_id = b.workspace_id and x.bot_id = b.bot_id and x.phase = 'open'
                          limit 1000) o
     where o.last_error is not null and (p_workspace_id is null or b.workspace_id = p_workspace_id)
$$;
