-- An operator opens a channel again: enabled, not paused, its error streak forgotten, so no probe is needed. Audited.
-- Returns the channel as it is now. Raises ZD003 when there is no such channel, ZD005 without operator or reason.
create or replace function posting.enable_channel(
    p_workspace_id uuid, p_channel_id text, p_operator text, p_reason text
)
returns posting.channels language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    note constant jsonb := posting.manual_note(p_operator, p_reason);
    channel posting.channels;
begin
    channel := posting.hold_channel(p_workspace_id, p_channel_id);
    update posting.channels c set enabled = true, paused_until = null, error_streak = 0, updated_at = now_ts
     where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id
    returning * into channel;
    insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
    values (p_workspace_id, p_channel_id, now_ts, 'channel_enabled', 'ok', note || '{"manual": true}');
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('channel_id', p_channel_id));
    return channel;
end
$$;
