-- What an update asks of the bot itself: it came into a group and says once what it keeps; /register and /unregister by
-- an admin of the workspace; /forget as a reply, by the author of the message, also one who is not on the allowlist, or
-- an admin; /help. Guarantees: again, it changes nothing and says nothing twice; a late /register or /unregister does
-- not undo a later one. A command for another bot is not obeyed.
create or replace function knowledge.obey(p_workspace_id uuid, p_bot_id uuid, p_facts jsonb) returns void
language plpgsql as $$
declare
    of_chat constant bigint := (p_facts #>> '{chat,chat_id}')::bigint;
    is_private constant boolean := p_facts #>> '{chat,type}' = 'private';
    message constant jsonb := p_facts -> 'message';
    command constant text := message #>> '{command,name}';
    sender constant bigint := (message ->> 'tg_user_id')::bigint;
    target constant int := (message ->> 'reply_to_message_id')::int;
    number constant int := (message ->> 'message_id')::int;
    reply_key constant text := format('command %s %s', of_chat, number);
    -- A group may have become a supergroup since.
    chat constant bigint := knowledge.chat_now(p_workspace_id, of_chat);
    keeps constant text := 'Здесь сохраняется то, чем делится чат: сообщения, ссылки и файлы, чтобы по ним можно было'
        ' спрашивать. Чтобы забыть сообщение, ответьте на него командой /forget (автор или администратор).';
    is_author boolean := false;
    role text;
    said text;
begin
    if p_facts -> 'bot_added' = 'true' and not is_private then
        perform knowledge.put_reply(p_workspace_id, p_bot_id, format('hello %s', of_chat), of_chat, null, null,
            keeps || ' Сохранение начнётся, когда администратор рабочего пространства отправит /register.');
    end if;
    if command is null or p_facts ->> 'kind' <> 'message' or sender is null
       or lower(message #>> '{command,bot}') <> (
            select lower(s.username) from core.bot_transport_state s
             where (s.workspace_id, s.bot_id) = (p_workspace_id, p_bot_id))
       or exists (select from knowledge.replies r
                   where (r.workspace_id, r.bot_id, r.dedup_key) = (p_workspace_id, p_bot_id, reply_key)) then
        return;
    end if;
    select u.role into role from core.tenant_users u where (u.workspace_id, u.tg_user_id) = (p_workspace_id, sender);
    if command = 'forget' and target is not null then
        -- Telegram names the author of what is answered, also where the message itself comes later.
        is_author := coalesce((message ->> 'reply_to_user_id')::bigint = sender, false) or exists (
            select from tg.messages m
             where (m.workspace_id, m.chat_id, m.message_id, m.tg_user_id) = (p_workspace_id, of_chat, target, sender));
    end if;
    if (role is null or role = 'blocked') and not is_author then
        if command in ('register', 'unregister', 'forget', 'help', 'start') then
            perform knowledge.put_reply(
                p_workspace_id, p_bot_id, format('stranger %s %s', of_chat, sender), of_chat, null, null,
                'Извините, этот бот отвечает только участникам рабочего пространства.'
                ' Обратитесь к его администратору.');
        end if;
        return;
    end if;
    case
        when command in ('register', 'unregister') and is_private then
            said := 'Эта команда нужна в группе или канале, а личная переписка сохраняется и так.';
        when command in ('register', 'unregister') and role <> 'admin' then
            said := 'Подключить или отключить чат может администратор рабочего пространства.';
        when command in ('register', 'unregister') and exists (
            select from core.tenant_chats c where (c.workspace_id, c.chat_id) = (p_workspace_id, chat)
               and (c.last_command_id > number or c.last_command_id is not null and chat <> of_chat)) then
            return;
        when command = 'register' then
            perform knowledge.register_chat(p_workspace_id, chat, p_bot_id, sender);
            said := 'Чат подключён. ' || keeps;
        when command = 'unregister' then
            perform knowledge.disable_chat(p_workspace_id, chat);
            -- Also where the /register before it has not come yet.
            insert into core.tenant_chats (workspace_id, chat_id, bot_id, status, registered_by)
            values (p_workspace_id, chat, p_bot_id, 'disabled', sender) on conflict do nothing;
            said := 'Чат отключён: новое не сохраняется, и вопросы не принимаются. Чтобы забыть сохранённое, обратитесь'
                ' к администратору.';
        when command = 'forget' and target is null then
            said := 'Ответьте командой /forget на сообщение, которое нужно забыть.';
        when command = 'forget' and not is_author and role <> 'admin' then
            said := 'Забыть сообщение может его автор или администратор рабочего пространства.';
        when command = 'forget' then
            perform knowledge.forget(p_workspace_id, 'message', of_chat, target, null, format('tg_user %s', sender));
            said := 'Забыто.';
        when command in ('help', 'start') then
            said := keeps;
        else
            return;
    end case;
    if command in ('register', 'unregister') and role = 'admin' and chat = of_chat then
        update core.tenant_chats c set last_command_id = number
         where (c.workspace_id, c.chat_id) = (p_workspace_id, chat);
    end if;
    perform knowledge.put_reply(
        p_workspace_id, p_bot_id, reply_key, of_chat, (message ->> 'thread_id')::int, number, said);
end
$$;
