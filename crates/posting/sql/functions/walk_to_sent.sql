-- Brings a delivery that is known to have arrived to `sent` along allowed edges only.
create or replace function posting.walk_to_sent(
    p_workspace_id uuid, p_delivery_id uuid, p_provider_message_id text, p_sent_at timestamptz
) returns void language plpgsql as $$
declare
    step text;
    from_status text;
begin
    select d.status into from_status from posting.deliveries d where d.workspace_id = p_workspace_id
       and d.delivery_id = p_delivery_id;
    foreach step in array case
        when from_status in ('dead', 'failed_permanent') then '{retry,claimed,sending,sent}'::text[]
        when from_status in ('queued', 'retry') then '{claimed,sending,sent}'
        when from_status = 'claimed' then '{sending,sent}'
        else '{sent}' end
    loop
        update posting.deliveries d
           set status = step, sent_at = p_sent_at, provider_message_id = p_provider_message_id, next_retry_at = null,
               last_error = null,
               claimed_at = null, claim_token = null, sending_started_at = null, updated_at = platform.now()
         where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id;
    end loop;
end
$$;
