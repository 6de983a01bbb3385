-- Records what came of one attempt; the caller has locked the subscription. Any 2xx is success. 410 ends the
-- subscription for good, so the delivery has failed, as it has if the subscription was removed meanwhile. Everything
-- else is tried again, or is dead after the last attempt. p_result: {delivery_id, claim_token, attempt, status?, ms?,
-- answer?, error?, retry_after_s?, is_unknown?}; without a status there was no answer, and is_unknown says that the
-- event may have arrived all the same. Returns
--   delivered, retry, dead, failed   the holder of the lease says so
--   late                the lease was lost, but no other sender sent again: taken, so that none will
--   repeated            it was recorded already
--   possible_duplicate  the lease was lost and another sends or has sent: written down, for a person to see
--   lost                a failure of one who lost the lease: nothing is changed
create or replace function webhooks.record_result(p_workspace_id uuid, p_result jsonb) returns text
language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    is_success constant boolean := coalesce((p_result->>'status')::int between 200 and 299, false);
    this_attempt constant int := (p_result->>'attempt')::int;
    delivery ops.webhook_deliveries;
    outcome text;
    asked constant interval := case when p_result->>'retry_after_s' is not null
        then least((p_result->>'retry_after_s')::float8, 86400) * interval '1 second' end;
    wait interval;
begin
    select * into delivery from ops.webhook_deliveries d
     where d.workspace_id = p_workspace_id and d.delivery_id = (p_result->>'delivery_id')::uuid for no key update;
    if delivery.status = 'sending' and delivery.claim_token = p_result->>'claim_token' then
        wait := webhooks.retry_wait(delivery.attempt);
        outcome := case when is_success then 'delivered'
                        when p_result->>'status' = '410' or not exists (
                             select from core.webhook_subscriptions s
                              where s.workspace_id = p_workspace_id and s.subscription_id = delivery.subscription_id
                                and s.status <> 'disabled') then 'failed'
                        when wait is null then 'dead' else 'retry' end;
    elsif not is_success or delivery.delivery_id is null or delivery.status = 'failed' then
        return 'lost';
    elsif delivery.status in ('retry', 'dead') then
        outcome := 'late';
    elsif delivery.status = 'delivered' and delivery.attempt = this_attempt then
        return 'repeated';
    else
        perform webhooks.log_attempt(delivery, this_attempt, 'possible_duplicate', p_result);
        return 'possible_duplicate';
    end if;
    update ops.webhook_deliveries d
       set status = case outcome when 'late' then 'delivered' else outcome end, claim_token = null,
           claimed_until = null,
           next_attempt_at = case outcome when 'retry' then now_ts + greatest(wait, asked) else d.next_attempt_at end,
           ended_at = case when outcome <> 'retry' then now_ts end,
           unknown_outcomes = d.unknown_outcomes + coalesce((p_result->>'is_unknown')::boolean, false)::int,
           last_status = (p_result->>'status')::int, last_ms = (p_result->>'ms')::int,
           last_answer = left(p_result->>'answer', 500), last_error = left(p_result->>'error', 500)
     where d.workspace_id = p_workspace_id and d.delivery_id = delivery.delivery_id;
    perform webhooks.log_attempt(delivery, this_attempt, outcome, p_result);
    perform webhooks.judge_subscription(p_workspace_id, delivery.subscription_id, is_success, p_result, asked);
    return outcome;
end
$$;
