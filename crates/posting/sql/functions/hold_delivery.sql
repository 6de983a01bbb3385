-- Locks a delivery for whoever finishes an attempt at it. Whoever also closes a key or pauses a channel has done that
-- before:
-- gates, limits, channels, deliveries, counters is the order of all.
-- Returns null when the lease was lost: then nothing may be changed any more. Raises ZD002 when an operator (no token)
-- names a delivery in none of the statuses that p_from lists, ZD003 when there is no such delivery.
create or replace function posting.hold_delivery(
    p_workspace_id uuid, p_delivery_id uuid, p_claim_token text, p_from text[]
)
returns posting.deliveries language plpgsql as $$
declare
    delivery posting.deliveries;
begin
    select * into delivery from posting.deliveries d where d.workspace_id = p_workspace_id
       and d.delivery_id = p_delivery_id for update;
    if not found then
        raise exception 'there is no delivery %', p_delivery_id using errcode = 'ZD003';
    end if;
    if p_claim_token is null then
        if delivery.status <> all (p_from) then
            raise exception 'the delivery is %', delivery.status using errcode = 'ZD002',
                hint = 'it would have to be ' || array_to_string(p_from, ' or ');
        end if;
    elsif delivery.status <> 'sending' or delivery.claim_token is distinct from p_claim_token then
        return null;
    end if;
    return delivery;
end
$$;
