-- Finds the channels of a rate group for an operator who is about to change them, in order, and takes the gates of
-- their workspace, so that nothing starts there meanwhile. Raises ZD003 when no channel is in such a group, with the
-- groups that are most like it.
create or replace function posting.hold_group(p_workspace_id uuid, p_rate_group text)
returns text[] language plpgsql as $$
declare
    names text[];
begin
    perform posting.lock_gates(p_workspace_id);
    names := array(select c.channel_id from posting.channels c
                    where c.workspace_id = p_workspace_id and c.rate_group = p_rate_group
                    order by c.channel_id);
    if cardinality(names) = 0 then
        raise exception 'no channel is in the group `%`', p_rate_group using errcode = 'ZD003',
            hint = platform.near_names(p_rate_group,
            array(select c.rate_group from posting.channels c where c.workspace_id = p_workspace_id));
    end if;
    return names;
end
$$;
