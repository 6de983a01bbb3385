-- A success that comes after the lease was lost is information: taken if nobody sent again, otherwise written down as a
-- possible duplicate. Returns late, repeated, possible_duplicate or unknown: see mark_answers_sent.
create or replace function shopbot.mark_sent_late(
    p_workspace_id uuid, p_answer_id uuid, p_provider_message_id text, p_sent_at timestamptz
) returns text language plpgsql as $$
declare
    answer shopbot.bot_outbox;
begin
    select * into answer from shopbot.bot_outbox o
     where o.workspace_id = p_workspace_id and o.answer_id = p_answer_id for no key update;
    if not found then
        return 'unknown';
    elsif answer.status = 'sent' and answer.provider_message_id = p_provider_message_id then
        return 'repeated';
    elsif answer.status in ('retry', 'dead') then
        update shopbot.bot_outbox o
           set status = 'sent', provider_message_id = p_provider_message_id, sent_at = p_sent_at, failed_at = null,
               last_error = null, updated_at = platform.now()
         where o.workspace_id = p_workspace_id and o.answer_id = p_answer_id;
        perform bus.publish(p_workspace_id, 'shopbot', jsonb_build_object('sent', 1));
        return 'late';
    end if;
    perform ops.append_journal(p_workspace_id, 'shopbot', 'possible_duplicate', p_answer_id::text, answer.trace_id,
        jsonb_build_object('chat_id', answer.chat_id, 'provider', answer.provider, 'status', answer.status,
                           'provider_message_id', p_provider_message_id, 'attempt', answer.attempt));
    return 'possible_duplicate';
end
$$;
