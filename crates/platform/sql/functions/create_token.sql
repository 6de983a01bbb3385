-- Stores the hash of a new token and says so in the journal; the token itself never gets here.
create or replace function core.create_token(
    p_workspace_id uuid, p_name text, p_token_hash text, p_scopes text[], p_expires_at timestamptz,
    p_person text default null
) returns uuid language plpgsql as $$
declare
    new_id uuid;
begin
    insert into core.api_tokens (workspace_id, name, token_hash, scopes, expires_at, person)
    values (p_workspace_id, p_name, p_token_hash, p_scopes, p_expires_at, p_person)
    returning token_id into new_id;
    perform ops.append_journal(p_workspace_id, 'core', 'token_created', p_name, null,
                               jsonb_build_object('token_id', new_id, 'scopes', p_scopes, 'person', p_person));
    return new_id;
end
$$;
