-- Which of these attempts are still their holder's: asked again before the network is touched when time has passed
-- since the start, because a worker may have slept through its lease.
create or replace function posting.still_held(p_workspace_id uuid, p_delivery_id uuid, p_claim_token text)
returns boolean
language sql stable as $$
    select exists (select from posting.deliveries d
                    where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id
                      and d.status = 'sending' and d.claim_token = p_claim_token)
$$;
