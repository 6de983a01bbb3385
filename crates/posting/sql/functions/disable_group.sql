-- An operator closes every channel of a rate group until somebody enables it: nothing starts there, no new post is
-- queued for them, and what was claimed goes back to its queue at no cost. Audited, one event for each channel.
-- Returns the channels as they are now. Raises ZD003 when no channel is in the group, ZD005 without operator or reason.
create or replace function posting.disable_group(p_workspace_id uuid, p_rate_group text, p_operator text, p_reason text)
returns setof posting.channels language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    note constant jsonb := posting.manual_note(p_operator, p_reason)
        || jsonb_build_object('rate_group', p_rate_group, 'manual', true);
    names constant text[] := posting.hold_group(p_workspace_id, p_rate_group);
begin
    perform posting.release_claims(p_workspace_id, n) from unnest(names) n;
    update posting.channels c set enabled = false, updated_at = now_ts
     where c.workspace_id = p_workspace_id and c.channel_id = any (names);
    insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
    select p_workspace_id, n, now_ts, 'channel_disabled', 'ok', note from unnest(names) n;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('rate_group', p_rate_group));
    return query select * from posting.channels c
                  where c.workspace_id = p_workspace_id and c.channel_id = any (names) order by c.channel_id;
end
$$;
