-- Records what came of one attempt at a reply; p_error is null for a success. Returns sent, retry, dead, or
--   late  the lease was lost, but nobody sends again: taken, so that nobody will
--   lost  the lease was lost: nothing is changed
create or replace function knowledge.record_reply(
    p_workspace_id uuid, p_reply_id uuid, p_claim_token text, p_provider_message_id text, p_error jsonb
) returns text language plpgsql as $$
declare
    error constant jsonb := case when p_error is not null then platform.safe_error(p_error) end;
    attempts_max constant int := knowledge.reply_attempts_max();
    reply knowledge.replies;
    outcome text;
begin
    select * into reply from knowledge.replies r
     where r.workspace_id = p_workspace_id and r.reply_id = p_reply_id for no key update;
    if reply.status = 'sending' and reply.claim_token = p_claim_token then
        outcome := case when error is null then 'sent'
                        when error->>'category' = 'PERMANENT' or reply.attempt >= attempts_max then 'dead'
                        else 'retry' end;
    elsif reply.status = 'retry' and error is null then
        outcome := 'late';
    else
        return 'lost';
    end if;
    update knowledge.replies r
       set status = case outcome when 'late' then 'sent' else outcome end, claim_token = null, claimed_until = null,
           next_attempt_at = platform.now() + platform.backoff(reply.attempt, 5, 300,
                                                               (error->>'retry_after_ms')::float8 / 1000),
           provider_message_id = p_provider_message_id, last_error = error
     where r.workspace_id = p_workspace_id and r.reply_id = p_reply_id;
    perform ops.append_journal(p_workspace_id, 'knowledge', 'reply_' || outcome, p_reply_id::text);
    return outcome;
end
$$;
