-- The second half of forgetting a person: their name in what others forwarded, were told of them, or see as the title
-- of their private chat. What others said stays.
create or replace function knowledge.forget_names(p_workspace_id uuid, p_user_id bigint) returns void
language plpgsql as $$
declare
    is_named constant jsonpath := format('$.**.id == %s', p_user_id)::jsonpath;
begin
    update tg.users u set first_name = null, last_name = null, username = null, language_code = null
     where (u.workspace_id, u.tg_user_id) = (p_workspace_id, p_user_id);
    update tg.chats c set title = null, username = null where (c.workspace_id, c.chat_id) = (p_workspace_id, p_user_id);
    -- Forwards, service messages, and mentions of people without a username.
    update tg.message_versions v
       set payload = knowledge.without_names(v.payload, p_user_id),
           entities = knowledge.without_names(v.entities, p_user_id)
      from tg.messages m
     where m.workspace_id = p_workspace_id and (v.workspace_id, v.message_fk) = (m.workspace_id, m.id)
       and (m.kind = 'service' or m.forward_origin ->> 'tg_user_id' = p_user_id::text or v.entities @@ is_named)
       and v.payload @@ is_named;
    update tg.messages m set forward_origin = m.forward_origin - '{name,signature}'::text[]
     where m.workspace_id = p_workspace_id and m.forward_origin ->> 'tg_user_id' = p_user_id::text;
end
$$;
