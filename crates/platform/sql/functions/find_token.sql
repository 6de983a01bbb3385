-- Whose token has this hash, if it is alive and its workspace is not disabled. Runs before any workspace is known.
create or replace function core.find_token(p_token_hash text)
returns table (workspace_id uuid, workspace_name text, token_id uuid, token_name text, token_hash text, scopes text[],
               person text)
language sql stable as $$
    select t.workspace_id, w.name, t.token_id, t.name, t.token_hash, t.scopes, t.person
      from core.api_tokens t join core.workspaces w using (workspace_id)
     where t.token_hash = p_token_hash and t.revoked_at is null
       and (t.expires_at is null or t.expires_at > platform.now()) and w.status <> 'disabled'
$$;
