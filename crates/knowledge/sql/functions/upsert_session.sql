-- WF50: the session of a person in a chat. Half an hour without a question ends it, and the next question begins
-- another. Guarantee: two questions at the same time are of one session.
create or replace function knowledge.upsert_session(
    p_workspace_id uuid, p_user_id bigint, p_channel text, p_chat_id bigint, p_meta jsonb
) returns uuid language plpgsql as $$
declare
    session_id uuid;
begin
    perform pg_advisory_xact_lock(hashtextextended(format('%s %s %s', p_workspace_id, p_user_id, p_chat_id), 14));
    update audit.qa_sessions s
       set last_at = platform.now(), meta = s.meta || coalesce(p_meta, '{}')
     where s.workspace_id = p_workspace_id and s.id = (
           select x.id from audit.qa_sessions x
            where (x.workspace_id, x.tg_user_id, x.channel, x.chat_id)
                = (p_workspace_id, p_user_id, p_channel::core.visibility_scope, p_chat_id)
              and x.last_at > platform.now() - interval '30 minutes'
            order by x.last_at desc limit 1)
    returning s.id into session_id;
    if session_id is null then
        insert into audit.qa_sessions (workspace_id, tg_user_id, channel, chat_id, meta)
        values (p_workspace_id, p_user_id, p_channel::core.visibility_scope, p_chat_id, coalesce(p_meta, '{}'))
        returning id into session_id;
    end if;
    return session_id;
end
$$;
