-- Takes back what a dead or stopped sender of this workspace holds. What it was sending may have arrived: it is sent
-- again, or is dead after its last attempt. The journal says so of each. Returns how many replies that were.
create or replace function knowledge.expire_leases(p_workspace_id uuid) returns int language plpgsql as $$
declare
    freed int := 0;
    reply knowledge.replies;
begin
    for reply in
        update knowledge.replies e
           set status = case when e.attempt >= knowledge.reply_attempts_max() then 'dead' else 'retry' end,
               claim_token = null, claimed_until = null, next_attempt_at = platform.now(),
               last_error = platform.safe_error('{"kind": "unknown_outcome"}')
         where e.workspace_id = p_workspace_id
           and e.reply_id = any (array(
               select x.reply_id from knowledge.replies x
                where x.workspace_id = p_workspace_id and x.status = 'sending' and x.claimed_until < platform.now()
                order by x.reply_id for no key update skip locked))
        returning e.*
    loop
        perform ops.append_journal(p_workspace_id, 'knowledge', 'reply_' || reply.status, reply.reply_id::text, null,
                                   jsonb_build_object('reason', 'lease_expired', 'attempt', reply.attempt));
        freed := freed + 1;
    end loop;
    return freed;
end
$$;
