-- Takes back what a dead or stopped sender of this workspace holds: what it was sending may have arrived, so the
-- outcome of the attempt is unknown; it is tried again soon, or is dead when no attempt is left, or has failed when its
-- subscription was disabled or removed meanwhile. It says nothing of the receiver, whose failures stay as they are.
-- Returns how many deliveries that were.
create or replace function webhooks.expire_leases(p_workspace_id uuid, p_limit int default 500) returns int
language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    error constant text := 'the sender stopped while it was sending; the event may have arrived';
    delivery ops.webhook_deliveries;
    after text;
    freed int := 0;
begin
    for delivery in
        select * from ops.webhook_deliveries d
         where d.workspace_id = p_workspace_id and d.status = 'sending' and d.claimed_until < now_ts
         order by d.delivery_id limit p_limit for no key update skip locked
    loop
        after := case when not exists (select from core.webhook_subscriptions s
                                        where s.workspace_id = p_workspace_id and s.status <> 'disabled'
                                          and s.subscription_id = delivery.subscription_id) then 'failed'
                      when webhooks.retry_wait(delivery.attempt) is null then 'dead' else 'retry' end;
        update ops.webhook_deliveries d
           set status = after, ended_at = case when after <> 'retry' then now_ts end,
               next_attempt_at = now_ts + (1 + random()) * interval '1 second', claim_token = null,
               claimed_until = null, unknown_outcomes = d.unknown_outcomes + 1, last_error = error
         where d.workspace_id = p_workspace_id and d.delivery_id = delivery.delivery_id;
        perform webhooks.log_attempt(delivery, delivery.attempt, 'lease_expired', jsonb_build_object('error', error));
        freed := freed + 1;
    end loop;
    return freed;
end
$$;
