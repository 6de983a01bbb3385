-- What getChatMember said of a person just now.
create or replace function knowledge.prove_membership(
    p_workspace_id uuid, p_chat_id bigint, p_user_id bigint, p_status text, p_is_member boolean
) returns void language sql as $$
    update tg.chat_memberships_current c
       set status = p_status, is_member = p_is_member, proved_at = platform.now(),
           changed_at = case when c.is_member = p_is_member then c.changed_at else platform.now() end
     where (c.workspace_id, c.chat_id, c.tg_user_id) = (p_workspace_id, p_chat_id, p_user_id)
$$;
