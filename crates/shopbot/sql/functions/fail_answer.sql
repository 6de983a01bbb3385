-- Records a failure that will not pass: the answer has failed, and the next one of its chat may go. A failure of the
-- bot's token is different: the bot is closed for a minute, and the answer waits, because its customer has done nothing
-- wrong and an operator will mend the token.
-- Returns failed, retry or dead; `lost` when the claim no longer holds.
create or replace function shopbot.fail_answer(
    p_workspace_id uuid, p_answer_id uuid, p_claim_token text, p_error jsonb
) returns text language plpgsql as $$
declare
    error constant jsonb := platform.safe_error(p_error) - 'raw' || '{"category": "PERMANENT"}';
    answer shopbot.bot_outbox;
begin
    if error->>'kind' = 'unauthorized' then
        return shopbot.retry_answer(p_workspace_id, p_answer_id, p_claim_token, error);
    end if;
    select * into answer from shopbot.bot_outbox o
     where o.workspace_id = p_workspace_id and o.answer_id = p_answer_id and o.status = 'sending'
       and o.claim_token = p_claim_token
       for no key update;
    if not found then
        return 'lost';
    end if;
    return shopbot.end_attempt(answer, 'failed', null, error);
end
$$;
