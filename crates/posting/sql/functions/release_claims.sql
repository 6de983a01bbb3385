-- Puts what is claimed but not yet being sent in a channel back into its queue, at no cost to its attempts. Whoever
-- releases several channels does so in the order of their ids. Returns how many that were.
create or replace function posting.release_claims(p_workspace_id uuid, p_channel_id text)
returns bigint language plpgsql as $$
declare
    channel posting.channels;
    released bigint;
begin
    select * into channel from posting.channels c where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id;
    update posting.deliveries d set status = 'queued', claimed_at = null, claim_token = null,
        updated_at = platform.now()
     where d.ctid = any (posting.claims_of(channel, 'channel'));
    get diagnostics released = row_count;
    return released;
end
$$;
