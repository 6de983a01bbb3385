-- Makes sure that there is such a chat, and that retention leaves it alone until the transaction ends. Nobody else
-- waits here: whoever starts actions or sends messages in the same chat holds it in the same gentle way.
-- Raises ZA003 for what can be no chat id.
create or replace function actions.open_chat(p_workspace_id uuid, p_chat_id text) returns void language plpgsql as $$
begin
    perform actions.check_chat_id(p_chat_id);
    loop
        perform from actions.chats c where c.workspace_id = p_workspace_id and c.chat_id = p_chat_id for key share;
        exit when found;
        insert into actions.chats (workspace_id, chat_id) values (p_workspace_id, p_chat_id) on conflict do nothing;
        exit when found;
    end loop;
end
$$;
