-- The end of a job of WF20: notes that a raw update was processed, or why it could not be. What was forgotten does not
-- stay in the raw update either.
create or replace function knowledge.end_update(p_workspace_id uuid, p_raw_id bigint, p_problem text,
    p_is_forgotten boolean)
returns void language sql as $$
    update raw.telegram_updates
       set processed_at = platform.now(), problem = p_problem,
           body = case when p_is_forgotten then '{}'::jsonb
                       else knowledge.kept_of_update(p_workspace_id, chat_id, body) end
     where (workspace_id, id) = (p_workspace_id, p_raw_id)
$$;
