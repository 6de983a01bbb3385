-- What is wrong with knowledge now, in one workspace or, given null, in all. See ops.check_alerts.
--   unreadable_documents  ten documents of a chat, or more, could not be read in the last day; the subject is the chat
--   bot_transport         updates of a bot have not come for three checks in a row; the subject is the bot
create or replace function knowledge.find_trouble(p_workspace_id uuid) returns setof ops.findings
language sql stable as $$
    select d.workspace_id, 'unreadable_documents', d.chat_id::text, count(*), max(d.id)::text, min(d.updated_at),
           format('%s documents could not be read; the last reason: %s', count(*), max(d.error)), interval '1 day'
      from content.documents d
     where d.status = 'error' and d.updated_at > platform.now() - interval '1 day'
       and (p_workspace_id is null or d.workspace_id = p_workspace_id)
     group by d.workspace_id, d.chat_id having count(*) >= 10
    union all
    select s.workspace_id, 'bot_transport', s.bot_id::text, s.failures, null, s.since, s.last_error, interval '1 hour'
      from core.bot_transport_state s
     where s.failures >= 3 and (p_workspace_id is null or s.workspace_id = p_workspace_id)
$$;
