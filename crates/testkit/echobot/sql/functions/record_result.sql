-- Records what came of one attempt; p_error is null for a success. Returns sent, retry, dead, or
--   late  the lease was lost, but nobody sends again: taken, so that nobody will
--   lost  the lease was lost: nothing is changed
create or replace function echobot.record_result(
    p_workspace_id uuid, p_echo_id uuid, p_claim_token text, p_error jsonb
) returns text language plpgsql as $$
declare
    error constant jsonb := case when p_error is not null then platform.safe_error(p_error) end;
    echo echobot.echoes;
    outcome text;
begin
    select * into echo from echobot.echoes e
     where e.workspace_id = p_workspace_id and e.echo_id = p_echo_id for no key update;
    if echo.status = 'sending' and echo.claim_token = p_claim_token then
        outcome := case when error is null then 'sent'
                        when error->>'category' = 'PERMANENT' or echo.attempt >= 5 then 'dead' else 'retry' end;
    elsif echo.status = 'retry' and error is null then
        outcome := 'late';
    else
        return 'lost';
    end if;
    update echobot.echoes e
       set status = case outcome when 'late' then 'sent' else outcome end, claim_token = null, claimed_until = null,
           next_attempt_at = platform.now() + platform.backoff(echo.attempt, 5, 300,
                                                               (error->>'retry_after_ms')::float8 / 1000),
           last_error = error
     where e.workspace_id = p_workspace_id and e.echo_id = p_echo_id;
    perform ops.append_journal(p_workspace_id, 'echobot', outcome, p_echo_id::text);
    if error is null then
        perform ops.emit_event(p_workspace_id, 'echo.sent', jsonb_build_object('echo_id', p_echo_id), p_echo_id::text);
    end if;
    return outcome;
end
$$;
