-- The end of a job of WF20: notes that a raw update was processed, or why it could not be. What was forgotten does not
-- stay in the raw update either, nor what it repeats of a forgotten message.
create or replace function knowledge.end_update(p_workspace_id uuid, p_raw_id bigint, p_problem text,
    p_is_forgotten boolean)
returns void language sql as $$
    update raw.telegram_updates
       set processed_at = platform.now(), problem = p_problem, body = case when p_is_forgotten
           then '{}'::jsonb when knowledge.quotes_forgotten(p_workspace_id, chat_id, body)
           then knowledge.without_quotes(body) else body end
     where (workspace_id, id) = (p_workspace_id, p_raw_id)
$$;
