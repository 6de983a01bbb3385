-- Registers a group or channel, so that its content is kept from now on; or switches it on again.
create or replace function knowledge.register_chat(p_workspace_id uuid, p_chat_id bigint, p_bot_id uuid, p_by bigint)
returns void language sql as $$
    insert into core.tenant_chats as c (workspace_id, chat_id, bot_id, registered_by)
    values (p_workspace_id, p_chat_id, p_bot_id, p_by)
    on conflict (workspace_id, chat_id) do update set status = 'active', bot_id = coalesce(excluded.bot_id, c.bot_id);
    select ops.append_journal(p_workspace_id, 'knowledge', 'chat_registered', p_chat_id::text);
$$;
