-- Takes a message: the receipt, the effect that answers it, the job that counts its words and the journal, in one
-- transaction. Guarantee: a message that comes again changes nothing. Returns the echo, or null for a repeated message.
create or replace function echobot.take_message(
    p_workspace_id uuid, p_bot_id uuid, p_chat_id text, p_message_id text, p_text text, p_trace_id text
) returns uuid language plpgsql as $$
declare
    made uuid;
begin
    insert into echobot.echoes (workspace_id, bot_id, chat_id, message_id, text)
    values (p_workspace_id, p_bot_id, p_chat_id, p_message_id, left(p_text, 4000))
    on conflict on constraint echo_is_made_once do nothing returning echo_id into made;
    if made is not null then
        perform ops.enqueue_job(p_workspace_id, 'echobot.count_words', jsonb_build_object('echo_id', made), null, null,
                                p_trace_id);
        perform ops.append_journal(p_workspace_id, 'echobot', 'taken', made::text, p_trace_id);
    end if;
    return made;
end
$$;
