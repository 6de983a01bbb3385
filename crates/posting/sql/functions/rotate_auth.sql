-- An operator switches a channel to another credential and, where a group is given, to another rate group.
-- Guarantee: no send under way uses the old credential when the switch happens. The gates are held, so nothing starts
-- meanwhile; while something is being sent the answer is `draining`: the channel is paused for two minutes, nothing is
-- switched, and the same call succeeds once the sends have ended. An answer and not an exception, which would take the
-- pause back. Otherwise `rotated`, audited. A pause stays until it runs out or somebody enables the channel.
-- Raises ZD003 when there is no such channel or its platform has no credential of this name, ZD005 without operator or
-- reason.
create or replace function posting.rotate_auth(
    p_workspace_id uuid, p_channel_id text, p_new_auth_ref text, p_operator text, p_reason text,
    p_new_rate_group text default null
) returns table (outcome text, sending bigint, paused_until timestamptz, old_auth_ref text, auth_ref text,
                 rate_group text) language plpgsql as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
    note constant jsonb := posting.manual_note(p_operator, p_reason);
    channel posting.channels := posting.hold_channel(p_workspace_id, p_channel_id);
    old_ref text;
    under_way bigint;
begin
    if not exists (select from posting.credential_bindings b
                    where b.workspace_id = p_workspace_id and b.auth_ref = p_new_auth_ref
                      and b.platform = channel.platform) then
        raise exception 'there is no credential `%` for %', p_new_auth_ref, channel.platform using errcode = 'ZD003',
            hint = platform.near_names(
            p_new_auth_ref, array(select b.auth_ref from posting.credential_bindings b
                                   where b.workspace_id = p_workspace_id and b.platform = channel.platform));
    end if;
    old_ref := coalesce((select a.auth_ref from posting.channel_auth a
                          where a.workspace_id = p_workspace_id and a.channel_id = p_channel_id), channel.auth_ref);
    select count(*) into under_way from posting.deliveries d
     where d.workspace_id = p_workspace_id and d.channel_id = p_channel_id and d.phase = 'inflight'
       and d.status = 'sending';
    if under_way > 0 then
        perform posting.release_claims(p_workspace_id, p_channel_id);
        update posting.channels c set paused_until = greatest(c.paused_until, now_ts + interval '2 minutes'),
            updated_at = now_ts
         where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id
        returning * into channel;
        insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
        values (p_workspace_id, p_channel_id, now_ts, 'channel_paused', 'ok',
                note || jsonb_build_object('manual', true, 'until', channel.paused_until, 'draining', under_way,
                                           'new_auth_ref', p_new_auth_ref));
    else
        insert into posting.channel_auth (workspace_id, channel_id, auth_ref, rotated_at, updated_at)
        values (p_workspace_id, p_channel_id, p_new_auth_ref, now_ts, now_ts)
        on conflict on constraint channel_auth_pkey do update
           set auth_ref = excluded.auth_ref, rotated_at = excluded.rotated_at, updated_at = excluded.updated_at;
        update posting.channels c
           set auth_ref = p_new_auth_ref, rate_group = coalesce(p_new_rate_group, c.rate_group), updated_at = now_ts
         where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id
        returning * into channel;
        insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
        values (p_workspace_id, p_channel_id, now_ts, 'auth_rotated', 'ok',
                note || jsonb_build_object('old_auth_ref', old_ref, 'new_auth_ref', p_new_auth_ref,
                                           'rate_group', channel.rate_group));
    end if;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('channel_id', p_channel_id));
    return query select case when under_way > 0 then 'draining' else 'rotated' end, under_way, channel.paused_until,
        old_ref,
                        channel.auth_ref, channel.rate_group;
end
$$;
