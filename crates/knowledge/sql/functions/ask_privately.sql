-- A question that a person's assistant asks for them: a turn like that of a private message, which nothing is sent
-- of. Returns its id, or null where the person asked too much within a minute (the limit of knowledge.take_question).
-- Guarantee: two questions at the same time are counted one after the other.
create or replace function knowledge.ask_privately(
    p_workspace_id uuid, p_user_id bigint, p_question text, p_trace_id text
) returns bigint language plpgsql as $$
declare
    person_max constant int := 6;
begin
    -- The lock of the session, taken before the count.
    perform pg_advisory_xact_lock(hashtextextended(format('%s %s %s', p_workspace_id, p_user_id, p_user_id), 14));
    if (select count(*) from audit.qa_turns t
         where (t.workspace_id, t.tg_user_id, t.chat_id) = (p_workspace_id, p_user_id, p_user_id)
           and t.created_at > platform.now() - interval '1 minute') >= person_max then
        return null;
    end if;
    return knowledge.open_turn(p_workspace_id, null, p_user_id, 'dm', p_user_id, p_question, null, p_trace_id);
end
$$;
