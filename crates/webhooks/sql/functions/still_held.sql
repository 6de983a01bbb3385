-- Whether this attempt is still its holder's: asked before the network is touched when time has passed since the claim.
create or replace function webhooks.still_held(p_workspace_id uuid, p_delivery_id uuid, p_claim_token text)
returns boolean language sql stable as $$
    select exists (select from ops.webhook_deliveries d
                    where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id
                      and d.status = 'sending' and d.claim_token = p_claim_token)
$$;
