-- The receipt of an earlier copy of a request, or null: by its source_ref, or, without one, by the hash of what was
-- sent, within the window of the endpoint.
create or replace function posting.find_receipt(
    p_workspace_id uuid, p_endpoint_id uuid, p_source_ref text, p_payload_hash text, p_now timestamptz
) returns posting.ingress_receipts language plpgsql stable as $$
declare
    first_copy posting.ingress_receipts;
begin
    if p_source_ref is not null then
        select * into first_copy from posting.ingress_receipts r
         where r.workspace_id = p_workspace_id and r.endpoint_id = p_endpoint_id and r.source_ref = p_source_ref;
    else
        select r.* into first_copy
          from core.workspace_endpoints e
          join posting.ingress_receipts r on r.workspace_id = e.workspace_id and r.endpoint_id = e.endpoint_id
         where e.workspace_id = p_workspace_id and e.endpoint_id = p_endpoint_id and r.payload_hash = p_payload_hash
           and r.received_at > p_now - e.hash_drop_window_sec * interval '1 second'
         order by r.received_at desc limit 1;
    end if;
    return first_copy;
end
$$;
