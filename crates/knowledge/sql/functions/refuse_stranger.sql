-- Says once to a person who may not ask that the bot does not answer them.
create or replace function knowledge.refuse_stranger(p_workspace_id uuid, p_bot_id uuid, p_facts jsonb) returns void
language plpgsql as $$
declare
    of_chat constant bigint := (p_facts #>> '{chat,chat_id}')::bigint;
    sender constant bigint := (p_facts #>> '{message,tg_user_id}')::bigint;
begin
    if not knowledge.is_addressed(p_workspace_id, p_bot_id, p_facts)
       or exists (select from core.tenant_users u
                   where (u.workspace_id, u.tg_user_id) = (p_workspace_id, sender) and u.role <> 'blocked') then
        return;
    end if;
    perform knowledge.put_reply(
        p_workspace_id, p_bot_id, format('stranger %s %s', of_chat, sender), of_chat,
        (p_facts #>> '{message,thread_id}')::int, null,
        'Извините, этот бот отвечает только участникам рабочего пространства. Обратитесь к его администратору.');
end
$$;
