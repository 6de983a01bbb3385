-- Records a failure that may pass: the answer is tried again after a pause that doubles, never before what the provider
-- asked for, or is dead after the last attempt that the bot allows. A provider that limits our rate, or refuses our
-- token, is asked nothing for a while. That trouble is the bot's and not the answer's, which waits for a day. An
-- attempt whose outcome is not known is counted: the answer may have arrived.
-- Returns retry or dead; `lost` when the claim no longer holds, and then nothing is changed.
create or replace function shopbot.retry_answer(
    p_workspace_id uuid, p_answer_id uuid, p_claim_token text, p_error jsonb
) returns text language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    error constant jsonb := platform.safe_error(p_error) - 'raw';
    asked constant float8 := case when error->>'kind' = 'unauthorized' then 60
                                  else coalesce((error->>'retry_after_ms')::float8 / 1000, 0) end;
    is_bots constant boolean := error->>'kind' = 'unauthorized'
                                or (error->>'scope' = 'platform' and (asked > 0 or error->>'kind' = 'rate_limited'));
    bot shopbot.bots;
    answer shopbot.bot_outbox;
begin
    select * into answer from shopbot.bot_outbox o
     where o.workspace_id = p_workspace_id and o.answer_id = p_answer_id and o.status = 'sending'
       and o.claim_token = p_claim_token;
    if not found then
        return 'lost';
    end if;
    -- The bot before its answers, here as everywhere.
    if is_bots then
        perform shopbot.close_bot(p_workspace_id, answer.bot_id, now_ts + greatest(asked, 2) * interval '1 second',
                                  error->>'code');
    end if;
    select * into bot from shopbot.bots b where b.workspace_id = p_workspace_id and b.bot_id = answer.bot_id;
    select * into answer from shopbot.bot_outbox o
     where o.workspace_id = p_workspace_id and o.answer_id = p_answer_id and o.status = 'sending'
       and o.claim_token = p_claim_token
       for no key update;
    if not found then
        return 'lost';
    elsif answer.attempt >= bot.attempts_max and not (is_bots and answer.created_at > now_ts - interval '1 day') then
        return shopbot.end_attempt(answer, 'dead', null, error);
    end if;
    return shopbot.end_attempt(answer, 'retry', now_ts + platform.backoff(answer.attempt, 2, 300, asked), error);
end
$$;
