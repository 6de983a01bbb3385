-- Why a delivery waits, and until when if that is known; null when it does not. The one place that knows: the API, the
-- console and the command line all ask here. `reason` is one of slot, scheduled, window, channel_disabled,
-- channel_paused, probe, channel_closed, platform_closed, next_retry, parallel, lease, follows, workspace_paused,
-- dispatcher.
create or replace function posting.waiting_for(p_delivery posting.deliveries)
returns jsonb language plpgsql stable as $$
declare
    now_ts constant timestamptz := platform.now();
    channel posting.channels;
    held int;
    at timestamptz;
begin
    if p_delivery.phase <> 'inflight' then
        return null;
    end if;
    if p_delivery.status in ('claimed', 'sending') then
        return jsonb_strip_nulls(jsonb_build_object('reason', case when p_delivery.status = 'claimed'
                                                    and p_delivery.not_before > now_ts then 'slot' else 'lease' end,
            'until', case when p_delivery.status = 'claimed'
                and p_delivery.not_before > now_ts then p_delivery.not_before end,
            'held_by', p_delivery.claim_token, 'since',
                coalesce(p_delivery.sending_started_at, p_delivery.claimed_at)));
    end if;
    select * into channel from posting.channels c where c.workspace_id = p_delivery.workspace_id
       and c.channel_id = p_delivery.channel_id;
    if not exists (select from core.workspaces w where w.workspace_id = p_delivery.workspace_id and w.status = 'active')
        then
        return '{"reason": "workspace_paused"}';
    elsif not channel.enabled then
        return '{"reason": "channel_disabled"}';
    elsif channel.paused_until > now_ts then
        return jsonb_build_object('reason', 'channel_paused', 'until', channel.paused_until);
    elsif p_delivery.not_before > now_ts then
        return jsonb_build_object('reason', case when p_delivery.scheduled_for > now_ts then 'scheduled'
                                  else 'window' end, 'until', p_delivery.not_before);
    elsif p_delivery.status = 'retry' and p_delivery.next_retry_at > now_ts then
        return jsonb_build_object('reason', 'next_retry', 'until', p_delivery.next_retry_at);
    elsif p_delivery.of_delivery_id is not null
          and not posting.can_follow(p_delivery.workspace_id, p_delivery.of_delivery_id, p_delivery.delivery_id) then
        return jsonb_build_object('reason', 'follows', 'delivery_id', p_delivery.of_delivery_id);
    end if;
    if channel.window_mode = 'windowed' then
        at := posting.next_open_at(channel.posting_window, channel.timezone, now_ts);
        if at > now_ts then
            return jsonb_build_object('reason', 'window', 'until', at);
        end if;
    end if;
    select l.next_allowed_at into at from posting.platform_limits l
     where l.workspace_id = p_delivery.workspace_id and l.platform = channel.platform
       and l.rate_group = channel.rate_group;
    if at > now_ts then
        return jsonb_build_object('reason', 'platform_closed', 'until', at);
    elsif channel.next_allowed_at > now_ts then
        return jsonb_build_object('reason', 'channel_closed', 'until', channel.next_allowed_at);
    end if;
    select n.claimed + n.sending into held from posting.channel_counters n
     where n.workspace_id = p_delivery.workspace_id and n.channel_id = p_delivery.channel_id;
    if held >= (case when channel.error_streak > 0 then 1 else channel.max_parallel end) then
        return jsonb_build_object('reason', case when channel.error_streak > 0 then 'probe' else 'parallel' end,
                                  'held', held);
    end if;
    return '{"reason": "dispatcher"}';
end
$$;
