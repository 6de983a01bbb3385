-- Takes back what a dead or stopped sender of this workspace holds. What it was sending may have arrived: it is sent
-- again. Returns how many echoes that were.
create or replace function echobot.expire_leases(p_workspace_id uuid) returns int language plpgsql as $$
declare
    freed int;
begin
    update echobot.echoes e
       set status = case when e.attempt >= 5 then 'dead' else 'retry' end, claim_token = null, claimed_until = null,
           next_attempt_at = platform.now(), last_error = platform.safe_error('{"kind": "unknown_outcome"}')
     where e.workspace_id = p_workspace_id
       and e.echo_id = any (array(
           select x.echo_id from echobot.echoes x
            where x.workspace_id = p_workspace_id and x.status = 'sending' and x.claimed_until < platform.now()
            order by x.echo_id for no key update skip locked));
    get diagnostics freed = row_count;
    return freed;
end
$$;
