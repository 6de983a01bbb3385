-- A provider has closed a key until p_until: nothing is sent there before, by anybody. Scope `channel` closes one chat, scope
-- `platform` the credential's group. What was claimed for an earlier slot goes back to the queue, for a slot that is open.
create or replace function posting.close_key(p_channel posting.channels, p_scope text, p_until timestamptz) returns void
language plpgsql set enable_seqscan = off as $$
declare
    now_ts constant timestamptz := platform.now();
begin
    perform posting.lock_gates(p_channel.workspace_id);
    if p_scope = 'platform' then
        insert into posting.platform_limits as l (workspace_id, platform, rate_group, next_allowed_at, updated_at)
        values (p_channel.workspace_id, p_channel.platform, p_channel.rate_group, p_until, now_ts)
        on conflict (workspace_id, platform, rate_group) do update
           set next_allowed_at = greatest(l.next_allowed_at, excluded.next_allowed_at), updated_at = now_ts;
    else
        update posting.channels c set next_allowed_at = greatest(c.next_allowed_at, p_until), updated_at = now_ts
         where c.workspace_id = p_channel.workspace_id and c.channel_id = p_channel.channel_id;
    end if;
    perform posting.release_claims(c.workspace_id, c.channel_id) from posting.channels c
      where c.workspace_id = p_channel.workspace_id
        and case when p_scope = 'platform' then c.platform = p_channel.platform and c.rate_group = p_channel.rate_group
                 else c.channel_id = p_channel.channel_id end;
    insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
    values (p_channel.workspace_id, p_channel.channel_id, now_ts, 'key_closed', 'error',
            jsonb_build_object('scope', p_scope, 'platform', p_channel.platform, 'rate_group', p_channel.rate_group, 'until', p_until));
end
$$;
