-- Records one success. p_claim_token fences a worker that lost its lease; an operator gives none. Returns what became
-- of it:
--   sent                the holder of the lease says so
--   repeated            it was recorded already, with this very provider message
--   late                the lease was lost, but nobody sent again: taken, so that nobody will
--   possible_duplicate  the lease was lost and somebody else sends or has sent: recorded as an event, for a person to
--   see
--   unknown             there is no such delivery
-- Raises ZD002 when an operator names a delivery that is not being sent.
create or replace function posting.mark_sent(
    p_workspace_id uuid, p_delivery_id uuid, p_provider_message_id text, p_sent_at timestamptz default null,
    p_raw_meta_json jsonb default null, p_claim_token text default null
) returns text language plpgsql as $$
declare
    at constant timestamptz := coalesce(p_sent_at, platform.now());
    outcome text;
begin
    select m.outcome into outcome
      from posting.mark_sent_many(p_workspace_id, array[p_delivery_id], array[p_provider_message_id],
        array[at], array[p_raw_meta_json], array[p_claim_token]) m;
    if outcome = 'lost' then
        outcome := posting.mark_sent_late(p_workspace_id, p_delivery_id, p_provider_message_id, at, p_raw_meta_json,
                                          p_claim_token);
    end if;
    return outcome;
end
$$;
