-- Makes the deliveries of a message, one for each channel that its tags lead to, and their events: set-based, rendered
-- once for each kind of channel. Returns how many there are of each status. Part of enqueue_messages_and_deliveries.
create or replace function posting.fan_out(
    p_message posting.messages, p_due_at timestamptz, p_trace_id text, p_now timestamptz
)
returns jsonb language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    -- One draw of randomness for the whole batch: PostgreSQL asks the kernel for each, which costs more than the rest
    -- of a row.
    batch constant text := platform.new_id()::text;
    wanted_at constant timestamptz := greatest(p_now, p_due_at);
    counts jsonb;
begin
    with routed as materialized (
        select c.* from posting.channels c
         where c.workspace_id = p_message.workspace_id and c.enabled
           and (c.route_filter is null or posting.is_routed(p_message.tags, c.route_filter))
    ), rendered as materialized (
        select v.platform, v.send_mode, v.settings, r.rendered_text, r.render_meta, r.template_version,
               coalesce(r.error, case when p_message.payload ? 'media'
                                      then posting.media_problem(p_message.workspace_id, p_message.payload,
                                                                 v.platform) end) as problem
          from (select distinct c.platform, c.send_mode, c.settings from routed c) v,
               posting.render(p_message.payload, v.platform, v.send_mode, v.settings) r
    ), before as materialized (
        -- Where this content is under way already, or was sent not long ago. A content has one message, so a message
        -- that was seen once has no earlier copies. By status and not by phase, so that nobody takes the index of the
        -- queues for it.
        select d.channel_id, d.delivery_id, d.sent_at from posting.deliveries d
         where p_message.seen_count > 1 and d.message_id = p_message.message_id
           and d.workspace_id = p_message.workspace_id
           and d.status in ('queued', 'claimed', 'sending', 'retry', 'sent')
    ), judged as materialized (
        select c.channel_id, r.rendered_text, r.render_meta, r.template_version, r.problem,
               case when c.window_mode = 'windowed'
                    then coalesce(posting.next_open_at(c.posting_window, c.timezone, wanted_at), wanted_at)
                        else wanted_at end as not_before,
               (select b.delivery_id from before b
                 where b.channel_id = c.channel_id
                   and (b.sent_at is null or b.sent_at >= p_now - coalesce(c.dedup_ttl_hours, 168) * interval '1 hour')
                 limit 1) as suppressed_by
          from routed c
          join rendered r on r.platform = c.platform and r.send_mode = c.send_mode and r.settings = c.settings
    ), made as (
        insert into posting.deliveries (workspace_id, delivery_id, message_id, channel_id, hash_version, content_hash,
                                        not_before, scheduled_for, status,
                                        last_error, rendered_text, render_meta, template_version, trace_id,
                                        created_at, updated_at)
        select p_message.workspace_id, (left(batch, 15) || substr(md5(batch || j.channel_id)::uuid::text, 16))::uuid,
               p_message.message_id, j.channel_id, p_message.hash_version, p_message.content_hash, j.not_before,
                   p_due_at,
               case when j.suppressed_by is not null then 'deduped'
                    when j.problem is not null then 'failed_permanent' else 'queued' end,
               case when j.suppressed_by is null and j.problem is not null
                    then case when j.problem like 'media_missing_origin:%'
                              then '{"kind": "not_found", "code": "media_missing_origin"}'::jsonb
                              else '{"kind": "invalid", "code": "validation_failed"}' end
                         || jsonb_build_object('category', 'PERMANENT', 'scope', 'delivery',
                                               'message', platform.snippet(j.problem, 500)) end,
               case when j.suppressed_by is null then j.rendered_text end,
               case when j.suppressed_by is null then j.render_meta
                    else jsonb_build_object('suppressed_by', j.suppressed_by) end,
               j.template_version, p_trace_id, p_now, p_now
          from judged j
         -- In one order, because a delivery that comes late locks the head of its channel's queue.
         order by j.channel_id
        returning deliveries.delivery_id, deliveries.channel_id, deliveries.status, deliveries.last_error,
            deliveries.render_meta, deliveries.not_before
    ), told as (
        insert into posting.events (workspace_id, id, delivery_id, message_id, channel_id, ts, action, attempt, result,
                                    error, meta)
        select p_message.workspace_id, md5('enqueue' || m.delivery_id)::uuid, m.delivery_id, p_message.message_id,
               m.channel_id, p_now,
               case m.status when 'queued' then 'enqueue' when 'deduped' then 'dedup_suppressed'
                   else 'validation_failed' end,
               0, case when m.status = 'failed_permanent' then 'error' else 'ok' end, m.last_error,
               case when m.status = 'deduped'
                   then jsonb_build_object('trace_id', p_trace_id, 'suppressed_by', m.render_meta->'suppressed_by')
                    when m.not_before > p_now
                        then jsonb_build_object('trace_id', p_trace_id, 'not_before', m.not_before)
                    else jsonb_build_object('trace_id', p_trace_id) end
          from made m
    )
    select coalesce(jsonb_object_agg(t.status, t.n), '{}') into counts
      from (select m.status, count(*) as n from made m group by m.status) t;
    if counts ? 'failed_permanent' then
        perform posting.tell_failed(p_message.workspace_id, array(
            select d.delivery_id from posting.deliveries d
             where d.message_id = p_message.message_id and d.workspace_id = p_message.workspace_id
               and d.created_at = p_now
               and d.status = 'failed_permanent'));
    end if;
    return counts;
end
$$;
