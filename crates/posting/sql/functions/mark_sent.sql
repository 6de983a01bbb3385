-- Records one success. p_claim_token fences a worker that lost its lease; an operator gives none.
-- Returns what became of it, as mark_sent_many does. Raises ZD002 when an operator names a delivery that is not being sent.
create or replace function posting.mark_sent(
    p_workspace_id uuid, p_delivery_id uuid, p_provider_message_id text, p_sent_at timestamptz default null,
    p_raw_meta_json jsonb default null, p_claim_token text default null
) returns text language sql as $$
    select m.outcome from posting.mark_sent_many(p_workspace_id, array[p_delivery_id], array[p_provider_message_id],
        array[coalesce(p_sent_at, platform.now())], array[p_raw_meta_json], array[p_claim_token]) m
$$;
