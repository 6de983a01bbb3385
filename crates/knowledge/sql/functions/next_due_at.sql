-- When there may next be a reply to claim in a workspace.
create or replace function knowledge.next_due_at(p_workspace_id uuid) returns timestamptz language sql stable as $$
    select min(e.next_attempt_at) from knowledge.replies e
     where e.workspace_id = p_workspace_id and e.status in ('queued', 'retry')
$$;
