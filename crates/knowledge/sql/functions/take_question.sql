-- A message that was stored asks the bot something: a turn and the job that answers it, in the transaction of the
-- message. Guarantee: one answer for one message, however often its update comes and whatever is edited afterwards. A
-- person or a chat that asks too much is told so once a minute, and gets no turn.
create or replace function knowledge.take_question(
    p_workspace_id uuid, p_bot_id uuid, p_facts jsonb, p_message_fk bigint, p_version_id bigint, p_trace_id text
) returns bigint language plpgsql as $$
declare
    person_max constant int := 6;
    chat_max constant int := 20;
    message constant jsonb := p_facts -> 'message';
    of_chat constant bigint := (p_facts #>> '{chat,chat_id}')::bigint;
    sender constant bigint := (message ->> 'tg_user_id')::bigint;
    channel constant text := case when p_facts #>> '{chat,type}' = 'private' then 'dm' else 'group' end;
    bot_name constant text := (select s.username from core.bot_transport_state s
                                where (s.workspace_id, s.bot_id) = (p_workspace_id, p_bot_id));
    question text := case when message #>> '{command,name}' = 'ask' then message #>> '{command,args}'
                          else message ->> 'normalized_text' end;
    turn_id bigint;
    of_person bigint;
    of_all bigint;
begin
    if not knowledge.is_addressed(p_workspace_id, p_bot_id, p_facts)
       or exists (select from audit.qa_turns t
                   where (t.workspace_id, t.question_message_fk) = (p_workspace_id, p_message_fk))
       or knowledge.load_context(p_workspace_id, sender, of_chat, channel) ? 'status' then
        return null;
    end if;
    if bot_name is not null then
        question := regexp_replace(question, format('@%s\M', bot_name), '', 'gi');
    end if;
    question := nullif(trim(e' \t\n,:' from question), '');
    -- A smile is no question.
    if question is null or question !~ '[[:alnum:]]' then
        if message #>> '{command,name}' = 'ask' or (question is null and channel = 'group') then
            perform knowledge.put_reply(
                p_workspace_id, p_bot_id, format('command %s %s', of_chat, message ->> 'message_id'), of_chat,
                (message ->> 'thread_id')::int, (message ->> 'message_id')::int,
                'Напишите вопрос после команды: /ask когда привезут короба?');
        end if;
        return null;
    end if;
    -- What an old backlog brings is asked at once and is no flood.
    select count(*) filter (where t.tg_user_id = sender), count(*) into of_person, of_all from audit.qa_turns t
     where t.workspace_id = p_workspace_id and t.chat_id = of_chat
       and t.created_at > platform.now() - interval '1 minute';
    if of_person >= person_max or of_all >= chat_max then
        perform knowledge.put_reply(
            p_workspace_id, p_bot_id,
            format('flood %s %s %s', of_chat, sender, to_char(platform.now(), 'YYYYMMDDHH24MI')), of_chat,
            (message ->> 'thread_id')::int, (message ->> 'message_id')::int,
            'Вопросов сейчас слишком много, и этот остался без ответа. Спросите, пожалуйста, ещё раз через минуту.');
        return null;
    end if;
    turn_id := knowledge.open_turn(
        p_workspace_id, p_bot_id, sender, channel, of_chat, question, p_version_id, p_trace_id);
    perform ops.enqueue_job(p_workspace_id, 'knowledge.answer', jsonb_build_object('turn_id', turn_id), null,
                            format('turn %s', turn_id), p_trace_id);
    return turn_id;
end
$$;
