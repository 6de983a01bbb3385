-- Gives back what a dead or stopped sender holds: what it was sending may have arrived, so the attempt's outcome is
-- unknown; it is tried again soon, or is dead when no attempt is left. Returns how many answers that were.
create or replace function shopbot.expire_answer_leases(p_limit int default 500) returns int language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
    as $$
declare
    now_ts constant timestamptz := platform.now();
    error constant jsonb := '{"category": "TRANSIENT", "scope": "delivery", "kind": "unknown_outcome",
                              "code": "outcome_unknown",
                              "message": "the sender stopped while it was sending; the answer may have arrived"}';
    stuck record;
    answer shopbot.bot_outbox;
    freed int := 0;
begin
    for stuck in
        select o.workspace_id, o.answer_id, b.attempts_max
          from shopbot.bots b
          join shopbot.bot_outbox o on o.workspace_id = b.workspace_id and o.bot_id = b.bot_id and o.phase = 'open'
         where o.status = 'sending' and o.claimed_until < now_ts
         limit p_limit
    loop
        -- Looked at again under its lock: its owner may have finished a moment ago.
        select * into answer from shopbot.bot_outbox o
         where o.workspace_id = stuck.workspace_id and o.answer_id = stuck.answer_id and o.status = 'sending'
           and o.claimed_until < now_ts
           for no key update skip locked;
        continue when not found;
        perform shopbot.end_attempt(answer, case when answer.attempt >= stuck.attempts_max then 'dead' else 'retry' end,
                                    now_ts + (1 + random()) * interval '1 second', error);
        freed := freed + 1;
    end loop;
    return freed;
end
$$;
