-- WF00c: who asks, whether they may, and what the policy of the chat is. Returns ctx, or a status with its reason: 403
-- for whoever is not on the allowlist, blocked or no member of the group, 404 for a chat that is not registered or
-- disabled.
create or replace function knowledge.load_context(
    p_workspace_id uuid, p_user_id bigint, p_chat_id bigint, p_channel text
) returns jsonb language plpgsql stable as $$
declare
    asker core.tenant_users;
    policy core.chat_policies;
    of_chat constant bigint := knowledge.chat_now(p_workspace_id, p_chat_id);
begin
    select * into asker from core.tenant_users where (workspace_id, tg_user_id) = (p_workspace_id, p_user_id);
    if not found then
        return jsonb_build_object('status', 403, 'reason', 'this person is not on the allowlist of the workspace');
    elsif asker.role = 'blocked' then
        return jsonb_build_object('status', 403, 'reason', 'this person is blocked');
    end if;
    if p_channel = 'group' then
        perform from core.tenant_chats where (workspace_id, chat_id, status) = (p_workspace_id, of_chat, 'active');
        if not found then
            return jsonb_build_object('status', 404, 'reason', 'this chat is not registered, or it is disabled');
        end if;
        perform from tg.chat_memberships_current
          where (workspace_id, chat_id, tg_user_id, is_member) = (p_workspace_id, of_chat, p_user_id, true);
        if not found then
            return jsonb_build_object('status', 403, 'reason', 'this person is not a member of the chat');
        end if;
    end if;
    policy := knowledge.policy_of(p_workspace_id, of_chat);
    return jsonb_build_object('ctx', jsonb_build_object(
        'tenant_id', p_workspace_id, 'tg_user_id', p_user_id, 'chat_id', of_chat, 'channel', p_channel,
        'visibility', p_channel, 'dm_owner_user_id', case when p_channel = 'dm' then p_user_id end,
        'role', asker.role, 'is_allowed', true, 'chat_policy', jsonb_build_object(
            'allow_url_fetch', policy.allow_url_fetch, 'allow_file_download', policy.allow_file_download,
            'allow_embedding', policy.allow_embedding, 'retention_days_raw', policy.retention_days_raw,
            'retention_days_documents', policy.retention_days_documents)));
end
$$;
