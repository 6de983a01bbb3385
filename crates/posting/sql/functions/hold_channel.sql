-- Finds a channel for an operator who is about to change it, and takes the gates of its workspace, so that nothing
-- starts there meanwhile. The row itself is not locked yet: whoever ends a delivery locks its counters first and then
-- its channel, and so must we.
-- Raises ZD003 when there is no such channel, with the names that are most like it.
create or replace function posting.hold_channel(p_workspace_id uuid, p_channel_id text)
returns posting.channels language plpgsql as $$
declare
    channel posting.channels;
begin
    perform posting.lock_gates(p_workspace_id);
    select * into channel from posting.channels c
     where c.workspace_id = p_workspace_id and c.channel_id = p_channel_id;
    if not found then
        raise exception 'there is no channel `%`', p_channel_id using errcode = 'ZD003',
            hint = platform.near_names(p_channel_id,
            array(select c.channel_id from posting.channels c where c.workspace_id = p_workspace_id));
    end if;
    return channel;
end
$$;
