-- An operator frees what has been claimed or being sent for longer than p_older_than, as posting.expire_leases does by
-- itself when the leases of the policy run out: tried again in 15 seconds, `attempt` untouched, audited. A send that
-- may have happened is held for posting.settle instead, where the channel asks for that (on_unknown = hold).
-- Guarantee: a row that somebody is finishing at this moment is left to them; a worker that lost its lease here can no
-- longer end the delivery. Raises ZD005 for an age under a minute, or without operator or reason.
create or replace function posting.release_stale(
    p_workspace_id uuid, p_operator text, p_reason text, p_older_than interval default interval '10 minutes'
) returns table (delivery_id uuid, message_id uuid, channel_id text, attempt int, from_status text, status text)
language plpgsql as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
    -- The reason of the specification, by which these events are found; the operator's own words stand beside it.
    note constant jsonb := posting.manual_note(p_operator, p_reason)
        || jsonb_build_object('reason', 'manual_stuck_release',
                              'note', posting.manual_note(p_operator, p_reason)->'reason');
    stale record;
    is_held boolean;
    ended uuid[];
begin
    if p_older_than is null or p_older_than < interval '1 minute' then
        raise exception 'what is younger than a minute is not stale' using errcode = 'ZD005';
    end if;
    for stale in
        select d.delivery_id, d.message_id, d.channel_id, d.attempt, d.status, c.settings->>'on_unknown' as on_unknown
          from posting.deliveries d
          join posting.channels c on c.workspace_id = d.workspace_id and c.channel_id = d.channel_id
         where d.workspace_id = p_workspace_id and d.phase = 'inflight' and d.status in ('claimed', 'sending')
           and coalesce(d.sending_started_at, d.claimed_at) < now_ts - p_older_than
         order by d.channel_id, d.delivery_id for update of d skip locked
    loop
        is_held := stale.status = 'sending' and coalesce(stale.on_unknown = 'hold', false);
        if is_held then
            perform posting.end_delivery(d, 'failed_permanent', null, jsonb_build_object(
                        'category', 'PERMANENT', 'scope', 'delivery', 'kind', 'unknown_outcome',
                        'code', 'outcome_unknown',
                        'message', 'an operator released it while it was being sent; the message may have arrived'))
               from posting.deliveries d where d.workspace_id = p_workspace_id and d.delivery_id = stale.delivery_id;
            ended := ended || stale.message_id;
        else
            update posting.deliveries d
               set status = 'retry', next_retry_at = now_ts + interval '15 seconds', claimed_at = null,
                   claim_token = null, sending_started_at = null, updated_at = now_ts
             where d.workspace_id = p_workspace_id and d.delivery_id = stale.delivery_id;
        end if;
        insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result,
                                    meta)
        values (p_workspace_id, stale.delivery_id, stale.message_id, stale.channel_id, now_ts,
                case when is_held then 'manual_settle' else 'manual_requeue' end, stale.attempt, 'ok',
                note || jsonb_build_object('from_status', stale.status)
                     || case when is_held then '{"verdict": "held"}'::jsonb else '{}' end);
        perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('message_id', stale.message_id));
        return query select stale.delivery_id, stale.message_id, stale.channel_id, stale.attempt, stale.status,
                            case when is_held then 'failed_permanent' else 'retry' end;
    end loop;
    perform posting.tell_posts_sent(p_workspace_id, ended);
end
$$;
