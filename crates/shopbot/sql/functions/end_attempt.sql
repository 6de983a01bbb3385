-- Ends an attempt that did not succeed: the answer goes to p_status, which is retry, failed or dead. What will not be
-- tried again is an error that a person may have to look at.
create or replace function shopbot.end_attempt(
    p_answer shopbot.bot_outbox, p_status text, p_next_retry_at timestamptz, p_error jsonb
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
begin
    update shopbot.bot_outbox o
       set status = p_status, next_retry_at = coalesce(p_next_retry_at, o.next_retry_at), last_error = p_error,
           claim_token = null, claimed_until = null, failed_at = case when p_status <> 'retry' then now_ts end,
           unknown_outcomes = o.unknown_outcomes + (platform.error_kind(p_error) = 'unknown_outcome')::int,
           updated_at = now_ts
     where o.workspace_id = p_answer.workspace_id and o.answer_id = p_answer.answer_id;
    if p_status <> 'retry' then
        perform ops.record_error(p_answer.workspace_id, 'shopbot', 'sender', 'send', null, p_answer.trace_id, null,
            format('an answer in %s chat %s was not sent: %s', p_answer.provider, p_answer.chat_id,
                   coalesce(p_error->>'message', p_error->>'code')),
            false, p_error || jsonb_build_object('answer_id', p_answer.answer_id, 'status', p_status,
                                                 'attempt', p_answer.attempt));
    end if;
    perform bus.publish(p_answer.workspace_id, 'shopbot',
        jsonb_build_object('provider', p_answer.provider, 'chat_id', p_answer.chat_id, 'outcome', p_status));
    return p_status;
end
$$;
