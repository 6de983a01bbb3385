-- Puts what is claimed but not yet being sent in a channel back into its queue, at no cost to its attempts.
create or replace function posting.release_claims(p_workspace_id uuid, p_channel_id text) returns bigint
language plpgsql set enable_seqscan = off as $$
declare
    held int;
    released bigint := 0;
begin
    select n.claimed into held from posting.channel_counters n where n.workspace_id = p_workspace_id and n.channel_id = p_channel_id;
    if held > 0 then
        update posting.deliveries d
           set status = 'queued', claimed_at = null, claim_token = null, updated_at = platform.now()
         where d.ctid = any (array(
                   select q.ctid from posting.deliveries q
                    where q.workspace_id = p_workspace_id and q.channel_id = p_channel_id and q.phase = 'inflight' and q.status = 'claimed'
                    order by q.created_at limit held for update skip locked));
        get diagnostics released = row_count;
    end if;
    return released;
end
$$;
