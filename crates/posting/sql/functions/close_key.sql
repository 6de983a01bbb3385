-- A provider has closed a key until p_until: nothing is sent there before, by anybody. Scope `channel` closes one chat,
-- scope `platform` the credential's group. Returns the places of what is claimed there for an earlier slot, locked: the
-- caller puts it back into the queue in the same statement that finishes its own delivery (see finish_attempt).
create or replace function posting.close_key(p_channel posting.channels, p_scope text, p_until timestamptz)
returns tid[]
language plpgsql set enable_seqscan = off as $$
declare
    now_ts constant timestamptz := platform.now();
begin
    if p_scope = 'platform' then
        insert into posting.platform_limits as l (workspace_id, platform, rate_group, next_allowed_at, updated_at)
        values (p_channel.workspace_id, p_channel.platform, p_channel.rate_group, p_until, now_ts)
        on conflict (workspace_id, platform, rate_group) do update
           set next_allowed_at = greatest(l.next_allowed_at, excluded.next_allowed_at), updated_at = now_ts;
    else
        update posting.channels c set next_allowed_at = greatest(c.next_allowed_at, p_until), updated_at = now_ts
         where c.workspace_id = p_channel.workspace_id and c.channel_id = p_channel.channel_id;
    end if;
    insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
    values (p_channel.workspace_id, p_channel.channel_id, now_ts, 'key_closed', 'error',
            jsonb_build_object('scope', p_scope, 'platform', p_channel.platform, 'rate_group', p_channel.rate_group,
                               'until', p_until));
    return posting.claims_of(p_channel, p_scope);
end
$$;
