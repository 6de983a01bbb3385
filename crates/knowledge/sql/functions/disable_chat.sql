-- Switches a registered chat off: nothing new of it is kept and nobody may ask in it; what is kept stays. Returns
-- whether the chat is registered. Again: nothing happens.
create or replace function knowledge.disable_chat(p_workspace_id uuid, p_chat_id bigint) returns boolean
language plpgsql as $$
declare
    of_chat constant bigint := knowledge.chat_now(p_workspace_id, p_chat_id);
begin
    update core.tenant_chats set status = 'disabled'
     where (workspace_id, chat_id, status) = (p_workspace_id, of_chat, 'active');
    if found then
        perform ops.append_journal(p_workspace_id, 'knowledge', 'chat_disabled', of_chat::text);
    end if;
    return exists (select from core.tenant_chats where (workspace_id, chat_id) = (p_workspace_id, of_chat));
end
$$;
