-- Commands about answers and privacy: /sources (as a reply to an answer, or of the asker's last answer here),
-- /privacy, and /help, which says how to ask too. Called before knowledge.obey, which leaves alone what has its
-- reply. Guarantees: again, it says nothing twice; a source that is gone or not visible any more is not named, also
-- where that happens before the reply is sent (the reply belongs to the turn: knowledge.may_tell,
-- knowledge.forget_answers).
create or replace function knowledge.obey_more(p_workspace_id uuid, p_bot_id uuid, p_facts jsonb) returns void
language plpgsql as $$
declare
    of_chat constant bigint := (p_facts #>> '{chat,chat_id}')::bigint;
    is_private constant boolean := p_facts #>> '{chat,type}' = 'private';
    of_channel constant text := case when is_private then 'dm' else 'group' end;
    message constant jsonb := p_facts -> 'message';
    command constant text := message #>> '{command,name}';
    sender constant bigint := (message ->> 'tg_user_id')::bigint;
    number constant int := (message ->> 'message_id')::int;
    reply_key constant text := format('command %s %s', of_chat, number);
    policy core.chat_policies;
    turn audit.qa_turns;
    said text;
begin
    if command is null or command not in ('sources', 'privacy', 'help', 'start') or p_facts ->> 'kind' <> 'message'
       or sender is null
       or lower(message #>> '{command,bot}') <> (
            select lower(s.username) from core.bot_transport_state s
             where (s.workspace_id, s.bot_id) = (p_workspace_id, p_bot_id)) then
        return;
    end if;
    -- What a group keeps is told to everybody in it, because everybody's messages are kept; the rest to the allowlist.
    if not exists (select from core.tenant_users u
                    where (u.workspace_id, u.tg_user_id) = (p_workspace_id, sender) and u.role <> 'blocked')
       and (command <> 'privacy' or is_private) then
        return;
    end if;
    policy := knowledge.policy_of(p_workspace_id, of_chat);
    case
        when command in ('help', 'start') then
            said := case when is_private
                then 'Спросите меня о том, чем делятся ваши чаты: просто напишите вопрос. Отвечаю только по тому, что'
                     ' вы можете видеть, и называю источники. То, что вы пишете мне лично, сохраняется для вас.'
                else 'Спросите меня о том, чем делился этот чат: /ask и вопрос, упоминание или ответ на моё сообщение.'
                     ' Отвечаю только по тому, что было здесь, и называю источники.' end
                || e'\n/sources — источники последнего ответа, /privacy — что и сколько хранится.'
                || e'\n\nЗдесь сохраняется то, чем делится чат: сообщения, ссылки и файлы, чтобы по ним можно было'
                   ' спрашивать. Чтобы забыть сообщение, ответьте на него командой /forget (автор или администратор).';
        when command = 'privacy' and not is_private and not exists (
            select from core.tenant_chats c
             where (c.workspace_id, c.chat_id, c.status) = (p_workspace_id, of_chat, 'active'))
        then
            said := format('Этот чат не подключён. Хранится только то, что прислал Telegram: %s дн.',
                           policy.retention_days_raw);
        when command = 'privacy' then
            said := format(
                'Что хранится: сообщения и их правки, страницы по ссылкам (%s), файлы (%s), вопросы и ответы — %s дн.;'
                ' то, что прислал Telegram, — %s дн.',
                case when policy.allow_url_fetch then 'да' else 'нет' end,
                case when policy.allow_file_download then 'да' else 'нет' end,
                policy.retention_days_documents, policy.retention_days_raw)
                || case when is_private then e'\nВидите это вы; администратор рабочего пространства может спрашивать'
                             ' и по этому.'
                        else e'\nВидят это участники чата.' end
                || e'\nЗабыть сообщение: ответьте на него командой /forget. Забыть всё, что сказал человек или чат,'
                   ' может администратор рабочего пространства.';
        else
            if knowledge.load_context(p_workspace_id, sender, of_chat, of_channel) ? 'status' then
                return;
            end if;
            -- Of what is answered, or of the last answer of the sender's session here.
            select t.* into turn from audit.qa_turns t
             where t.workspace_id = p_workspace_id and t.chat_id = of_chat and t.status in ('answered', 'refused')
               and case when message ->> 'reply_to_message_id' is not null then exists (
                        select from knowledge.replies r
                         where (r.workspace_id, r.bot_id, r.chat_id, r.turn_id)
                             = (p_workspace_id, p_bot_id, of_chat, t.id)
                           and r.provider_message_id = message ->> 'reply_to_message_id')
                   else t.tg_user_id = sender and t.bot_id is not null and t.session_id = (
                        select s.id from audit.qa_sessions s
                         where (s.workspace_id, s.tg_user_id, s.channel, s.chat_id)
                             = (p_workspace_id, sender, of_channel::core.visibility_scope, of_chat)
                           and s.last_at > platform.now() - interval '30 minutes'
                         order by s.last_at desc limit 1) end
             order by t.id desc limit 1;
            if turn.id is null then
                said := 'Ответа, к которому можно показать источники, нет: ответьте командой /sources на мой ответ.';
            else
                said := coalesce(knowledge.sources_of(p_workspace_id, turn), 'У этого ответа нет источников.');
            end if;
    end case;
    insert into knowledge.replies
        (workspace_id, bot_id, dedup_key, chat_id, thread_id, reply_to_message_id, text, turn_id, part)
    values (p_workspace_id, p_bot_id, reply_key, of_chat, (message ->> 'thread_id')::int, number, left(said, 4000),
            turn.id, coalesce((select max(r.part) + 1 from knowledge.replies r
                       where (r.workspace_id, r.turn_id) = (p_workspace_id, turn.id)), 1))
    on conflict on constraint reply_is_made_once do nothing;
end
$$;
