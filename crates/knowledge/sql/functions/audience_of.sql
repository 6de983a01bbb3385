-- Who a message of a chat is for, and whether it may be kept: a group or channel that is registered and active, also
-- under the id that it had as a group, or the private chat of a person on the allowlist. Returns no row for everything
-- else.
create or replace function knowledge.audience_of(p_workspace_id uuid, p_chat_id bigint, p_chat_type text,
    p_user_id bigint)
returns table (visibility core.visibility_scope, dm_owner_user_id bigint) language sql stable as $$
    select 'group'::core.visibility_scope, null::bigint from core.tenant_chats c
     where (c.workspace_id, c.chat_id, c.status)
           = (p_workspace_id, knowledge.chat_now(p_workspace_id, p_chat_id), 'active')
       and p_chat_type <> 'private'
    union all
    select 'dm', u.tg_user_id from core.tenant_users u
     where (u.workspace_id, u.tg_user_id) = (p_workspace_id, p_user_id) and u.role <> 'blocked'
         and p_chat_type = 'private'
$$;
