-- Whether a part of an answer may still be told: its asker may ask, and everything it cites is there and visible to
-- those who will read it. Looked at right before it is sent. What belongs to no turn may be told.
create or replace function knowledge.may_tell(p_workspace_id uuid, p_reply_id uuid) returns boolean
language sql stable as $$
    select coalesce(bool_and(
        not knowledge.load_context(p_workspace_id, t.tg_user_id, t.chat_id, t.channel::text) ? 'status'
        and not exists (
            select from audit.qa_citations c
             where (c.workspace_id, c.turn_id) = (t.workspace_id, t.id)
               and not exists (
                   select from content.documents d
                    where (d.workspace_id, d.id) = (c.workspace_id, c.document_id)
                      and d.chat_id = any (knowledge.audience_chats(
                          p_workspace_id, t.tg_user_id, t.chat_id, t.channel::text))))), true)
      from knowledge.replies r
      join audit.qa_turns t on (t.workspace_id, t.id) = (r.workspace_id, r.turn_id)
     where (r.workspace_id, r.reply_id) = (p_workspace_id, p_reply_id)
$$;
