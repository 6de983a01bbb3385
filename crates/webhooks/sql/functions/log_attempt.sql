-- Writes down how one attempt at a delivery ended. p_result is what the sender saw: {status, ms, answer, error}.
create or replace function webhooks.log_attempt(
    p_delivery ops.webhook_deliveries, p_attempt int, p_outcome text, p_result jsonb
) returns void language sql as $$
    insert into ops.webhook_attempts
           (workspace_id, delivery_id, attempt, subscription_id, outcome, status, ms, answer, error)
    values (p_delivery.workspace_id, p_delivery.delivery_id, p_attempt, p_delivery.subscription_id, p_outcome,
            (p_result->>'status')::int, (p_result->>'ms')::int, left(p_result->>'answer', 500),
            left(p_result->>'error', 500))
    on conflict do nothing
$$;
