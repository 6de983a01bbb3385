-- The provider says that a chat has a new id (a Telegram group became a supergroup): the channel follows it. Returns
-- false when another channel has that id already; then this one stays as it is.
create or replace function posting.repair_target(p_workspace_id uuid, p_channel_id text, p_target_id text)
returns boolean language plpgsql as $$
declare
    old_target text;
begin
    select c.target_id into old_target from posting.channels c
     where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id for no key update;
    if old_target = p_target_id
       or exists (select from posting.channels c join posting.channels o using (workspace_id, platform)
                   where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id
                     and o.target_id = p_target_id) then
        return false;
    end if;
    update posting.channels c set target_id = p_target_id, updated_at = platform.now()
     where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id;
    insert into posting.events (workspace_id, channel_id, ts, action, result, meta)
    values (p_workspace_id, p_channel_id, platform.now(), 'channel_migrated', 'ok',
            jsonb_build_object('from', old_target, 'to', p_target_id));
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('channel_id', p_channel_id));
    return true;
end
$$;
