-- An operator gives deliveries that ran out of attempts one more; p_delivery_ids null means all that are dead.
-- Guarantee: all of the named or none, due at once, `attempt` untouched, audited. Raises ZD002, ZD003, ZD005 as
-- posting.requeue does.
create or replace function posting.requeue_dead(
    p_workspace_id uuid, p_delivery_ids uuid[], p_operator text, p_reason text
)
returns table (delivery_id uuid, message_id uuid, channel_id text, attempt int) language sql as $$
    select * from posting.requeue(p_workspace_id, p_delivery_ids, 'dead', p_operator, p_reason)
$$;
