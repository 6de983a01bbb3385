-- A question that is to be answered. Guarantee: one turn for one version of a message, however often it is asked for;
-- the turn that is there comes back. Returns its id.
create or replace function knowledge.open_turn(
    p_workspace_id uuid, p_bot_id uuid, p_user_id bigint, p_channel text, p_chat_id bigint, p_question text,
    p_version_id bigint, p_trace_id text
) returns bigint language plpgsql as $$
declare
    turn_id bigint;
    message tg.messages;
begin
    select t.id into turn_id from audit.qa_turns t
     where (t.workspace_id, t.question_message_version_id) = (p_workspace_id, p_version_id);
    if found then
        return turn_id;
    end if;
    select m.* into message from tg.message_versions v
      join tg.messages m on (m.workspace_id, m.id) = (v.workspace_id, v.message_fk)
     where (v.workspace_id, v.id) = (p_workspace_id, p_version_id) for key share of m;
    insert into audit.qa_turns as t
        (workspace_id, session_id, bot_id, tg_user_id, channel, chat_id, question, question_message_fk,
         question_message_version_id, question_is_source, thread_id, reply_to_message_id, trace_id)
    values (p_workspace_id, knowledge.upsert_session(p_workspace_id, p_user_id, p_channel, p_chat_id, '{}'), p_bot_id,
            p_user_id, p_channel::core.visibility_scope, p_chat_id, left(p_question, 4096), message.id, p_version_id,
            -- In private people also leave notes: what does not read like a question may answer a later one.
            p_channel = 'dm' and not knowledge.is_question(p_question),
            message.thread_id, message.message_id, p_trace_id)
    on conflict on constraint question_is_answered_once do nothing
    returning t.id into turn_id;
    if turn_id is null then
        select t.id into turn_id from audit.qa_turns t
         where (t.workspace_id, t.question_message_version_id) = (p_workspace_id, p_version_id);
    end if;
    return turn_id;
end
$$;
