-- Looks at a request before anything costly is done for it, such as fetching its media: whether it can be a post at
-- all, and whether it was accepted before. A repeat is written down and answered as by enqueue_messages_and_deliveries.
-- Anything else is answered with {outcome: "new", payload_hash}: the hash of what was sent, to be handed on with a
-- payload that has changed by then. The transaction that enqueues decides again, between two copies that come at once.
-- Raises ZD001 for a payload that cannot be a post, its column names the field.
create or replace function posting.look_at_post(p_workspace_id uuid, p_endpoint_id uuid, p_raw_payload_json jsonb)
returns jsonb language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    tags constant text[] := posting.message_tags(p_raw_payload_json, posting.normalize_payload(p_raw_payload_json));
    payload_hash constant text := posting.request_hash(p_raw_payload_json);
    first_copy posting.ingress_receipts;
begin
    perform posting.scheduled_for(p_raw_payload_json);
    first_copy := posting.find_receipt(p_workspace_id, p_endpoint_id, left(p_raw_payload_json->>'source_ref', 512),
                                       payload_hash, now_ts);
    if first_copy.receipt_id is not null then
        return posting.tell_duplicate(first_copy, p_raw_payload_json, tags, now_ts);
    end if;
    return jsonb_build_object('outcome', 'new', 'payload_hash', payload_hash);
end
$$;
