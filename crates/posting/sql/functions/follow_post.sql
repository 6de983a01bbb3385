-- An edit or a deletion follows a post to every channel where it is or will be: one delivery each, with the guarantees
-- of any other, sent after what it follows. An edit replaces text, markup and buttons and keeps the media. A deletion
-- also withdraws what was not sent yet.
-- Raises ZD003 when there is no such post, ZD001 for a text that cannot be one.
create or replace function posting.follow_post(
    p_workspace_id uuid, p_message_id uuid, p_operation text, p_raw jsonb, p_trace_id text, p_actor text
)
returns jsonb language plpgsql set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    now_ts constant timestamptz := platform.now();
    post posting.messages;
    follower posting.messages;
    payload jsonb;
    counts jsonb;
    withdrawn int := 0;
begin
    select * into post from posting.messages m where m.workspace_id = p_workspace_id and m.message_id = p_message_id
       and m.of_message_id is null;
    if not found then
        raise exception 'there is no such post' using errcode = 'ZD003';
    end if;
    if p_operation = 'edit' then
        payload := posting.normalize_payload(jsonb_strip_nulls(jsonb_build_object(
            'media', post.payload->'media', 'links', coalesce(p_raw->'links', post.payload->'links'),
            'disable_preview', coalesce(p_raw->'disable_preview', post.payload->'disable_preview'),
            'buttons', p_raw->'buttons', 'text', p_raw->'text', 'parse_mode',
                coalesce(p_raw->'parse_mode', post.payload->'parse_mode'))));
    else
        payload := '{"type": "delete"}';
        withdrawn := posting.withdraw(p_workspace_id, p_message_id, p_trace_id, p_actor);
    end if;
    insert into posting.messages
        as m (workspace_id, content_hash, payload, tags, source, first_seen_trace_id, last_seen_at, of_message_id,
              created_at)
    values (p_workspace_id, posting.content_hash(jsonb_build_object(p_operation, p_message_id, 'payload', payload)),
            payload, post.tags,
            jsonb_build_object('kind', p_operation, 'actor', p_actor), p_trace_id, now_ts, p_message_id, now_ts)
    on conflict (workspace_id, hash_version, content_hash) where hash_version > 0 do update set last_seen_at = now_ts,
        seen_count = m.seen_count + 1
    returning * into follower;

    with bases as materialized (
        select b.delivery_id, b.channel_id, b.render_meta->'steps' as steps, c.platform, c.send_mode, c.settings
          from posting.deliveries b
          join posting.channels c on c.workspace_id = b.workspace_id and c.channel_id = b.channel_id
         where b.message_id = p_message_id and b.workspace_id = p_workspace_id and b.operation = 'send'
           and b.phase in ('inflight', 'sent')
           -- Asked for already and not done yet, or gone already: once is enough.
           and not exists (select from posting.deliveries f
                            where f.of_delivery_id = b.delivery_id and f.workspace_id = b.workspace_id
                              and f.message_id = follower.message_id
                              and (f.phase = 'inflight' or (f.phase = 'sent' and p_operation = 'delete')))
    ), rendered as materialized (
        select v.platform, v.send_mode, v.settings, r.rendered_text, r.render_meta, r.template_version, r.error
          from (select distinct b.platform, b.send_mode, b.settings from bases b where p_operation = 'edit') v,
               posting.render(payload, v.platform, v.send_mode, v.settings) r
    ), made as (
        insert into posting.deliveries (workspace_id, message_id, channel_id, content_hash, status, last_error,
                                        rendered_text, render_meta,
                                        template_version, trace_id, operation, of_delivery_id, not_before, created_at,
                                            updated_at)
        select p_workspace_id, follower.message_id, b.channel_id, follower.content_hash, case
            when p.problem is null then 'queued' else 'failed_permanent' end,
               case when p.problem is not null
                    then jsonb_build_object('category', 'PERMANENT', 'scope', 'delivery', 'kind', 'invalid',
                                            'code', 'validation_failed', 'message',
                                                platform.snippet(p.problem, 500)) end,
               r.rendered_text, coalesce(r.render_meta - 'steps', '{}'), r.template_version, p_trace_id, p_operation,
                   b.delivery_id, now_ts, now_ts, now_ts
          from bases b
          left join rendered r on r.platform = b.platform and r.send_mode = b.send_mode and r.settings = b.settings
         cross join lateral (
               select coalesce(r.error, case when p_operation = 'edit'
                                              and r.render_meta->'steps' is distinct from b.steps
                                             then 'the new text does not fit the messages that the post was sent as' end
                              ) as problem) p
        returning deliveries.delivery_id, deliveries.channel_id, deliveries.status, deliveries.last_error
    ), told as (
        insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result,
                                    error, meta)
        select p_workspace_id, m.delivery_id, follower.message_id, m.channel_id, now_ts,
               case m.status when 'queued' then 'enqueue' else 'validation_failed' end, 0, case m.status
                   when 'queued' then 'ok' else 'error' end,
               m.last_error, jsonb_build_object('trace_id', p_trace_id, 'operation', p_operation, 'actor', p_actor)
          from made m
    )
    select coalesce(jsonb_object_agg(t.status, t.n), '{}') into counts
      from (select m.status, count(*) as n from made m group by m.status) t;
    if counts ? 'failed_permanent' then
        perform posting.tell_failed(p_workspace_id, array(
            select d.delivery_id from posting.deliveries d
             where d.message_id = follower.message_id and d.workspace_id = p_workspace_id and d.created_at = now_ts
               and d.status = 'failed_permanent'));
    end if;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('message_id', p_message_id));
    if withdrawn > 0 then
        perform posting.tell_posts_sent(p_workspace_id, array[p_message_id]);
    end if;
    return jsonb_build_object('message_id', follower.message_id, 'of_message_id', p_message_id, 'deliveries', counts,
                              'withdrawn', withdrawn, 'trace_id', p_trace_id);
end
$$;
