-- Forgets a message (p_chat_id, p_message_id), a chat or a person, at once; forget_url forgets a page. A message that
-- is not there yet, because its update waits or is being read, does not come any more either.
create or replace function knowledge.forget(
    p_workspace_id uuid, p_kind text, p_chat_id bigint, p_message_id int, p_user_id bigint, p_asked_by text
) returns jsonb language plpgsql as $$
declare
    -- A supergroup is also the group that it was.
    chats constant bigint[] := knowledge.chats_of(p_workspace_id, p_chat_id);
    found_fks bigint[];
    lone bigint[];
    counts jsonb;
begin
    -- Whoever stores facts has ended before, or begins after and sees it.
    perform pg_advisory_xact_lock(hashtextextended(p_workspace_id::text, 12));
    insert into tg.forgotten (workspace_id, kind, chat_id, subject)
    select p_workspace_id, p_kind, c.chat_id,
           case p_kind when 'message' then p_message_id when 'person' then p_user_id else 0 end
      from unnest(case p_kind when 'chat' then chats when 'message' then array[p_chat_id] else '{0}' end) c (chat_id)
    on conflict (workspace_id, kind, chat_id, subject) do update set at = platform.now();
    select array_agg(m.id) into found_fks from tg.messages m
     where m.workspace_id = p_workspace_id and case p_kind
           when 'message' then (m.chat_id, m.message_id) = (p_chat_id, p_message_id)
           when 'chat' then m.chat_id = any (chats)
           else m.tg_user_id = p_user_id end;
    -- Pages and files of theirs that no message shares any more, or that none ever shared (WF30, WF31, WF32).
    select array_agg(d.id) into lone from content.documents d
     where d.workspace_id = p_workspace_id and d.doc_type <> 'message'
       and (p_kind = 'chat' and d.chat_id = any (chats) or p_kind = 'person' and d.dm_owner_user_id = p_user_id);
    if p_kind = 'chat' then
        update tg.chats c set title = null, username = null
         where c.workspace_id = p_workspace_id and c.chat_id = any (chats);
        delete from tg.topics t where t.workspace_id = p_workspace_id and t.chat_id = any (chats);
    end if;
    -- Who came and went. Who is a member now stays: it is what access is judged by.
    delete from tg.chat_member_events e
     where e.workspace_id = p_workspace_id
       and (p_kind = 'chat' and e.chat_id = any (chats) or p_kind = 'person' and e.tg_user_id = p_user_id);
    -- What was asked, and what was answered to it.
    delete from audit.qa_sessions s
     where s.workspace_id = p_workspace_id
       and (p_kind = 'chat' and s.chat_id = any (chats) or p_kind = 'person' and s.tg_user_id = p_user_id);
    if p_kind in ('chat', 'person') then
        perform knowledge.forget_raw(p_workspace_id, chats, case when p_kind = 'person' then p_user_id end);
    end if;
    counts := knowledge.forget_messages(p_workspace_id, coalesce(found_fks, '{}'), lone, p_kind, p_chat_id, p_asked_by);
    if p_kind = 'person' then
        perform knowledge.forget_names(p_workspace_id, p_user_id);
    end if;
    return counts;
end
$$;
