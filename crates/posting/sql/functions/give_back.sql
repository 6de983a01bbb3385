-- A dispatcher that stops gives back what it has claimed and not begun to send. Only what is still its own.
create or replace function posting.give_back(p_workspace_id uuid, p_delivery_ids uuid[], p_claim_tokens text[])
returns bigint language plpgsql as $$
declare
    given_back bigint;
begin
    update posting.deliveries d
       set status = 'queued', claimed_at = null, claim_token = null, updated_at = platform.now()
     where d.workspace_id = p_workspace_id and d.delivery_id = any (p_delivery_ids) and d.status = 'claimed'
       and d.claim_token = any (p_claim_tokens);
    get diagnostics given_back = row_count;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('given_back', given_back));
    return given_back;
end
$$;
