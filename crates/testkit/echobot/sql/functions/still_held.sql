-- Whether the worker with this claim still holds the echo.
create or replace function echobot.still_held(p_workspace_id uuid, p_echo_id uuid, p_claim_token text) returns boolean
language sql stable as $$
    select exists (select from echobot.echoes e
                    where e.workspace_id = p_workspace_id and e.echo_id = p_echo_id
                      and e.status = 'sending' and e.claim_token = p_claim_token)
$$;
