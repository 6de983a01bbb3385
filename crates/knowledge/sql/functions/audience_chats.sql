-- The chats whose documents an answer may rest on. Asked in a group: that group, whoever asks, because the group reads
-- the answer. Asked in private: the asker's own private chat and the groups of which the asker is a member now; an
-- admin's also the private chats of others. Whether the asker may ask at all is knowledge.load_context.
create or replace function knowledge.audience_chats(
    p_workspace_id uuid, p_user_id bigint, p_chat_id bigint, p_channel text
) returns bigint[] language sql stable as $$
    select coalesce(array_agg(chat order by chat), '{}') from (
        select c.chat_id from core.tenant_chats c
         where p_channel = 'group' and (c.workspace_id, c.chat_id, c.status) = (p_workspace_id, p_chat_id, 'active')
        union
        select p_user_id where p_channel = 'dm'
        union
        select c.chat_id from tg.chat_memberships_current m
          join core.tenant_chats c on (c.workspace_id, c.chat_id, c.status) = (m.workspace_id, m.chat_id, 'active')
         where p_channel = 'dm' and (m.workspace_id, m.tg_user_id, m.is_member) = (p_workspace_id, p_user_id, true)
        union
        select d.chat_id from content.documents d
         where p_channel = 'dm' and d.workspace_id = p_workspace_id and d.dm_owner_user_id is not null
           and exists (select from core.tenant_users u
                        where (u.workspace_id, u.tg_user_id, u.role) = (p_workspace_id, p_user_id, 'admin'))
    ) allowed (chat)
$$;
