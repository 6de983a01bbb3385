-- Where the queue of each channel begins: the time of its oldest delivery under way, a second ago at the latest (a transaction that
-- adds one may be that old). Finished deliveries leave dead entries in the index until vacuum comes, for minutes when a
-- long transaction runs beside; whoever knows the heads steps over none of them. p_from are the heads of an earlier look, `{}` looks
-- from the very beginning, which finds what an operator has brought back.
create or replace function posting.queue_heads(p_workspace_id uuid, p_from jsonb default '{}') returns jsonb language sql stable
set enable_seqscan = off as $$
    select coalesce(jsonb_object_agg(c.channel_id, least(h.oldest, platform.now() - interval '1 second')), '{}')
      from posting.channels c
      left join lateral (
          select d.created_at as oldest from posting.deliveries d
           where d.workspace_id = c.workspace_id and d.channel_id = c.channel_id and d.phase = 'inflight'
             and d.created_at >= coalesce((p_from->>c.channel_id)::timestamptz, '-infinity')
           order by d.created_at, d.delivery_id limit 1) h on true
     where c.workspace_id = p_workspace_id and c.enabled
$$;
