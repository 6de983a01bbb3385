-- Whether this attempt is still its holder's: asked before the network is touched when time has passed since the claim,
-- because a worker may have slept through its lease.
create or replace function shopbot.still_held(p_workspace_id uuid, p_answer_id uuid, p_claim_token text) returns boolean
language sql stable as $$
    select exists (select from shopbot.bot_outbox o
                    where o.workspace_id = p_workspace_id and o.answer_id = p_answer_id
                      and o.status = 'sending' and o.claim_token = p_claim_token)
$$;
