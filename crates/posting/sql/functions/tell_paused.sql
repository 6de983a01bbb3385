-- Tells the outside that a channel is paused: `channel.paused`. p_why is an error of the channel, or the words of an
-- operator.
create or replace function posting.tell_paused(p_channel posting.channels, p_why jsonb) returns void language sql as $$
    select ops.emit_event(p_channel.workspace_id, 'channel.paused', jsonb_strip_nulls(jsonb_build_object(
        'channel_id', p_channel.channel_id, 'channel', p_channel.title, 'platform', p_channel.platform,
        'paused_until', to_char(p_channel.paused_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'enabled', p_channel.enabled, 'error_streak', p_channel.error_streak, 'reason', p_why->'reason',
        'error', case when p_why ? 'code' then jsonb_build_object('code', p_why->'code', 'message', p_why->'message')
                 end)))
$$;
