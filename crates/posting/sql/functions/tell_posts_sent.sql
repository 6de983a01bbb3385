-- Tells the outside of those among these posts whose last delivery has ended, if at least one channel has the post:
-- `post.sent`, once for each time that the post was sent in. For the end of a transaction, after everything it
-- changes: of two transactions that end the last two deliveries of a post, the second waits here for the first and
-- sees what it did.
create or replace function posting.tell_posts_sent(p_workspace_id uuid, p_message_ids uuid[]) returns void
language plpgsql as $$
declare
    post posting.messages;
    sent_in_at timestamptz;
begin
    if not ops.is_event_wanted(p_workspace_id, 'post.sent') then
        return;
    end if;
    for post in
        select * from posting.messages m
         where m.workspace_id = p_workspace_id and m.message_id = any (p_message_ids) and m.of_message_id is null
         order by m.message_id
    loop
        perform pg_advisory_xact_lock(hashtextextended('posting.post_sent ' || post.message_id, 0));
        continue when exists (select from posting.deliveries d
                               where d.message_id = post.message_id and d.workspace_id = p_workspace_id
                                 and d.operation = 'send' and d.phase = 'inflight');
        select max(d.created_at) into sent_in_at from posting.deliveries d
         where d.message_id = post.message_id and d.workspace_id = p_workspace_id and d.operation = 'send'
           and d.status <> 'deduped';
        perform ops.emit_event(p_workspace_id, 'post.sent',
                jsonb_strip_nulls(jsonb_build_object('post_id', post.message_id, 'sent', c.sent, 'not_sent', c.not_sent,
                    'source_ref', post.source_ref, 'tags', to_jsonb(post.tags), 'trace_id', c.trace_id)),
                post.message_id || '@' || extract(epoch from sent_in_at))
           from (select count(*) filter (where d.status = 'sent') as sent,
                        count(*) filter (where d.status in ('failed_permanent', 'dead')) as not_sent,
                        min(d.trace_id) as trace_id
                   from posting.deliveries d
                  where d.message_id = post.message_id and d.workspace_id = p_workspace_id and d.operation = 'send'
                    and d.created_at = sent_in_at) c
          where c.sent > 0;
    end loop;
end
$$;
