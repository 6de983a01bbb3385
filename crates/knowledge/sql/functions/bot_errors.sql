-- What keeps the bots from replying: the last errors of replies that wait. See ops.bot_errors.
create or replace function knowledge.bot_errors(p_workspace_id uuid)
returns table (workspace_id uuid, bot_id uuid, since timestamptz, error jsonb) language sql stable as $$
    select r.workspace_id, r.bot_id, r.created_at, r.last_error
      from core.workspaces w
     cross join lateral (select x.workspace_id, x.bot_id, x.created_at, x.last_error from knowledge.replies x
                          where x.workspace_id = w.workspace_id and x.status in ('queued', 'retry') limit 1000) r
     where r.last_error is not null and (p_workspace_id is null or w.workspace_id = p_workspace_id)
$$;
