-- Retention of questions and answers, by the policy of the chat in which they were asked, and of sessions without any.
-- A question that came in a chat goes earlier, with its message. Returns how many sessions and turns went.
create or replace function knowledge.forget_sessions(p_limit int) returns int language plpgsql as $$
declare
    gone int;
    part int;
begin
    delete from audit.qa_turns t
     where (t.workspace_id, t.id) in (
           select x.workspace_id, x.id from audit.qa_turns x
            where x.created_at < platform.now() - interval '1 day'
              and x.created_at < platform.now() - interval '1 day'
                  * (knowledge.policy_of(x.workspace_id, x.chat_id)).retention_days_documents limit p_limit);
    get diagnostics gone = row_count;
    delete from audit.qa_sessions s
     where (s.workspace_id, s.id) in (
           select x.workspace_id, x.id from audit.qa_sessions x
            where x.last_at < platform.now() - interval '1 day'
              and not exists (select from audit.qa_turns t
                               where (t.workspace_id, t.session_id) = (x.workspace_id, x.id))
            limit p_limit);
    get diagnostics part = row_count;
    return gone + part;
end
$$;
