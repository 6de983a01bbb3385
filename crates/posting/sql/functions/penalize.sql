-- A channel refused a delivery for good: it is paused, the first time as long as the policy says, each further time
-- twice as long up to a day, and after a streak disabled. Returns the places of what was claimed there, locked, for the
-- caller to put back.
create or replace function posting.penalize(p_channel posting.channels, p_delivery_id uuid, p_error jsonb)
returns tid[] language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    policy constant posting.policies := posting.policy(p_channel.workspace_id);
    channel posting.channels;
begin
    update posting.channels c
       set error_streak = c.error_streak + 1,
           paused_until = now_ts + least(86400,
                                         policy.pause_on_permanent_seconds * power(2::float8,
                                                                                   least(c.error_streak,
                                                                                           20))) * interval '1 second',
           enabled = c.enabled and c.error_streak + 1 < policy.disable_after_permanent_streak,
           updated_at = now_ts
     where c.workspace_id = p_channel.workspace_id and c.channel_id = p_channel.channel_id
    returning * into channel;
    insert into posting.events (workspace_id, channel_id, ts, action, result, error, meta)
    values (channel.workspace_id, channel.channel_id, now_ts, 'channel_paused', 'error', p_error,
            jsonb_build_object('until', channel.paused_until, 'error_streak', channel.error_streak,
                               'delivery_id', p_delivery_id));
    if channel.error_streak = policy.disable_after_permanent_streak then
        insert into posting.events (workspace_id, channel_id, ts, action, result, error, meta)
        values (channel.workspace_id, channel.channel_id, now_ts, 'channel_disabled', 'error', p_error,
                jsonb_build_object('error_streak', channel.error_streak, 'delivery_id', p_delivery_id));
    end if;
    perform posting.tell_paused(channel, p_error);
    return posting.claims_of(channel, 'channel');
end
$$;
