-- Ends an attempt and publishes it: the delivery goes to p_status, and what p_release names goes back into the queue at
-- no cost. One statement for both, because the counters of several channels are then locked in their order and no two
-- transactions wait for each other.
create or replace function posting.finish_attempt(
    p_delivery posting.deliveries, p_status text, p_next_retry_at timestamptz, p_error jsonb,
    p_release tid[] default '{}'
) returns void language sql as $$
    update posting.deliveries d
       set status = case when d.delivery_id = p_delivery.delivery_id then p_status else 'queued' end,
           next_retry_at = case when d.delivery_id = p_delivery.delivery_id then p_next_retry_at
                                else d.next_retry_at end,
           last_error = case when d.delivery_id = p_delivery.delivery_id then p_error else d.last_error end,
           claimed_at = null, claim_token = null, sending_started_at = null, updated_at = platform.now()
     where d.ctid = any (p_release || array(
               select o.ctid from posting.deliveries o
                where o.workspace_id = p_delivery.workspace_id and o.delivery_id = p_delivery.delivery_id));
    select bus.publish(p_delivery.workspace_id, 'posting', jsonb_build_object('message_id', p_delivery.message_id))
$$;
