-- Accepts a request once. Returns null when it is new; otherwise the receipt of the first copy, whose message the
-- sender is told again. Part of the transaction that does the work: a receipt without its deliveries cannot exist.
-- Raises ZD004 when there is no such endpoint.
create or replace function posting.take_receipt(
    p_workspace_id uuid, p_endpoint_id uuid, p_source_ref text, p_payload_hash text, p_message_id uuid,
    p_now timestamptz
) returns posting.ingress_receipts language plpgsql as $$
declare
    endpoint_kind text;
    first_copy posting.ingress_receipts;
    made boolean;
begin
    select e.kind into endpoint_kind from core.workspace_endpoints e
     where e.workspace_id = p_workspace_id and e.endpoint_id = p_endpoint_id and e.enabled;
    if not found then
        raise exception 'there is no enabled endpoint %', p_endpoint_id using errcode = 'ZD004';
    end if;
    if p_source_ref is null then
        -- Two identical requests at once take turns, so that the second one sees the first.
        perform pg_advisory_xact_lock(hashtext(p_endpoint_id::text), hashtext(p_payload_hash));
        first_copy := posting.find_receipt(p_workspace_id, p_endpoint_id, null, p_payload_hash, p_now);
        if first_copy.receipt_id is not null then
            return first_copy;
        end if;
    end if;
    insert into posting.ingress_receipts (workspace_id, endpoint_id, endpoint_kind, source_ref, payload_hash,
                                          received_at, expires_at, message_id)
    values (p_workspace_id, p_endpoint_id, endpoint_kind, p_source_ref, p_payload_hash, p_now,
            p_now + (posting.policy(p_workspace_id)).receipts_keep_hours * interval '1 hour', p_message_id)
    on conflict (workspace_id, endpoint_id, source_ref) where source_ref is not null do nothing
    returning true into made;
    if made then
        return null;
    end if;
    return posting.find_receipt(p_workspace_id, p_endpoint_id, p_source_ref, p_payload_hash, p_now);
end
$$;
