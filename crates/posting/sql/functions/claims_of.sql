-- The places of what is claimed and not yet being sent, in one channel or in all channels of its group, locked.
create or replace function posting.claims_of(p_channel posting.channels, p_scope text) returns tid[] language sql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
    select array(
        select q.ctid
          from posting.channels c
          join posting.channel_counters n on n.workspace_id = c.workspace_id and n.channel_id = c.channel_id
              and n.claimed > 0
          join posting.deliveries q on q.workspace_id = c.workspace_id and q.channel_id = c.channel_id
              and q.phase = 'inflight' and q.status = 'claimed'
         where c.workspace_id = p_channel.workspace_id
           and case when p_scope = 'platform' then c.platform = p_channel.platform
           and c.rate_group = p_channel.rate_group
                    else c.channel_id = p_channel.channel_id end
           for update of q skip locked)
$$;
