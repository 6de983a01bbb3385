-- When there may next be something to claim in this workspace: the earliest time that the oldest deliveries of its
-- channels wait for. Looks at a bounded number of rows; whoever asks comes back after a while all the same.
create or replace function posting.next_due_at(p_workspace_id uuid) returns timestamptz language sql stable
set enable_seqscan = off as $$
    select min(greatest(d.not_before, case when d.status = 'retry' then d.next_retry_at end, c.paused_until,
                        c.next_allowed_at, l.next_allowed_at))
      from posting.channels c
      left join posting.platform_limits l on l.workspace_id = c.workspace_id and l.platform = c.platform
          and l.rate_group = c.rate_group
      left join posting.queue_heads h on h.workspace_id = c.workspace_id and h.channel_id = c.channel_id
     cross join lateral (
          select q.not_before, q.status, q.next_retry_at from posting.deliveries q
           where q.workspace_id = c.workspace_id and q.channel_id = c.channel_id and q.phase = 'inflight'
             and q.status in ('queued', 'retry')
             and q.created_at >= coalesce(h.head_at, '-infinity')
           order by q.created_at limit 20) d
     where c.workspace_id = p_workspace_id and c.enabled
$$;
