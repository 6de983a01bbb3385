-- Whose webhook this is: the enabled endpoint of kind bot_webhook with this secret, for this messenger, in an active workspace.
-- No row for a secret that is unknown, disabled, or made for another messenger. `is_enabled` says whether its bot answers.
create or replace function shopbot.find_bot(p_provider text, p_secret_hash text)
returns table (workspace_id uuid, endpoint_id uuid, bytes_max int, is_enabled boolean) language sql stable as $$
    select e.workspace_id, e.endpoint_id, e.max_payload_bytes, coalesce(b.enabled, false)
      from core.workspace_endpoints e
      join core.workspaces w on w.workspace_id = e.workspace_id and w.status = 'active'
      left join shopbot.bots b on b.workspace_id = e.workspace_id and b.provider = p_provider
     where e.kind = 'bot_webhook' and e.secret_hash = p_secret_hash and e.enabled and e.meta->>'provider' = p_provider
$$;
