-- An operator quarantines a channel for a while: nothing starts there before, and what was claimed goes back to its
-- queue at no cost. What is being sent comes to its end. Audited. Returns the channel as it is now.
-- Raises ZD003 when there is no such channel, ZD005 for a pause outside 1 second to 365 days, or without operator or
-- reason.
create or replace function posting.pause_channel(
    p_workspace_id uuid, p_channel_id text, p_pause_seconds int, p_operator text, p_reason text
)
returns posting.channels language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    note constant jsonb := posting.manual_note(p_operator, p_reason);
    channel posting.channels;
begin
    if p_pause_seconds is null or p_pause_seconds not between 1 and 31536000 then
        raise exception 'a pause lasts from 1 second to 365 days' using errcode = 'ZD005';
    end if;
    channel := posting.hold_channel(p_workspace_id, p_channel_id);
    perform posting.release_claims(p_workspace_id, p_channel_id);
    update posting.channels c set paused_until = now_ts + p_pause_seconds * interval '1 second', updated_at = now_ts
     where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id
    returning * into channel;
    insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
    values (p_workspace_id, p_channel_id, now_ts, 'channel_paused', 'ok',
            note || jsonb_build_object('manual', true, 'until', channel.paused_until));
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('channel_id', p_channel_id));
    perform posting.tell_paused(channel, note);
    return channel;
end
$$;
