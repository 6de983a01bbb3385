-- The jobs for what a version of a message shares: pages (WF31) and files (WF32) that the policy of the chat allows.
-- Files of which no text can be made (stickers, animations, videos) are left alone.
create or replace function knowledge.ask_for_shared(
    p_workspace_id uuid, p_version_id bigint, p_visibility core.visibility_scope, p_owner bigint, p_chat_id bigint,
    p_trace_id text
) returns jsonb language plpgsql as $$
declare
    ctx constant jsonb := jsonb_build_object('chat_id', p_chat_id, 'visibility', p_visibility,
                                             'dm_owner_user_id', p_owner, 'message_version_id', p_version_id);
    sent timestamptz;
    url_jobs bigint[];
    file_jobs bigint[];
begin
    select m.date into sent from tg.message_versions v
      join tg.messages m on (m.workspace_id, m.id) = (v.workspace_id, v.message_fk)
     where (v.workspace_id, v.id) = (p_workspace_id, p_version_id);
    select array_agg(t.fetch_job_id order by l.link_no) filter (where t.fetch_job_id is not null) into url_jobs
      from (select distinct on (l.normalized_url) l.* from tg.message_links l
             where (l.workspace_id, l.message_version_id) = (p_workspace_id, p_version_id)
               and l.normalized_url is not null
               and not knowledge.is_url_forgotten(p_workspace_id, l.normalized_url, sent)
             order by l.normalized_url, l.link_no) l
      cross join lateral knowledge.take_url(p_workspace_id, l.normalized_url, ctx, p_trace_id) t;
    if (knowledge.policy_of(p_workspace_id, p_chat_id)).allow_file_download then
        select array_agg(ops.enqueue_job(
                   p_workspace_id, 'knowledge.download_file',
                   jsonb_build_object('file_id', i.file_id, 'file_unique_id', a.file_unique_id, 'ctx', ctx), null,
                   format('file %s version %s', a.file_unique_id, p_version_id), p_trace_id) order by a.position)
          into file_jobs
          from tg.message_attachments a
          cross join lateral (
              select n.file_id from tg.file_instances n
               where (n.workspace_id, n.file_unique_id) = (p_workspace_id, a.file_unique_id)
               order by n.last_seen_at desc limit 1) i
         where (a.workspace_id, a.message_version_id) = (p_workspace_id, p_version_id)
           and a.kind in ('document', 'photo', 'audio', 'voice', 'video_note');
    end if;
    return jsonb_build_object('url_jobs', coalesce(to_jsonb(url_jobs), '[]'),
                              'file_jobs', coalesce(to_jsonb(file_jobs), '[]'));
end
$$;
