-- An operator opens every channel of a rate group again: enabled, not paused, error streaks forgotten. Audited, one
-- event for each channel. Returns the channels as they are now. Raises ZD003 when no channel is in the group, ZD005
-- without operator or reason.
create or replace function posting.enable_group(p_workspace_id uuid, p_rate_group text, p_operator text, p_reason text)
returns setof posting.channels language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    note constant jsonb := posting.manual_note(p_operator, p_reason)
        || jsonb_build_object('rate_group', p_rate_group, 'manual', true);
    names constant text[] := posting.hold_group(p_workspace_id, p_rate_group);
begin
    update posting.channels c set enabled = true, paused_until = null, error_streak = 0, updated_at = now_ts
     where c.workspace_id = p_workspace_id and c.channel_id = any (names);
    insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
    select p_workspace_id, n, now_ts, 'channel_enabled', 'ok', note from unnest(names) n;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('rate_group', p_rate_group));
    return query select * from posting.channels c
                  where c.workspace_id = p_workspace_id and c.channel_id = any (names) order by c.channel_id;
end
$$;
