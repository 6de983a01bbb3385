-- Ends a token. Says whether there was a live one to end.
create or replace function core.revoke_token(p_workspace_id uuid, p_token_id uuid)
returns boolean language plpgsql as $$
begin
    update core.api_tokens set revoked_at = platform.now()
     where workspace_id = p_workspace_id and token_id = p_token_id and revoked_at is null;
    if not found then
        return false;
    end if;
    perform ops.append_journal(p_workspace_id, 'core', 'token_revoked', p_token_id::text);
    return true;
end
$$;
