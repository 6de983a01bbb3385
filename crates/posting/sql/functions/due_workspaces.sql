-- The workspaces that have anything under way, for a dispatcher to go round; the paused and disabled ones wait.
create or replace function posting.due_workspaces() returns setof uuid language sql stable as $$
    select w.workspace_id from core.workspaces w
     where w.status = 'active'
       and exists (select from posting.deliveries d where d.workspace_id = w.workspace_id and d.phase = 'inflight')
     order by w.workspace_id
$$;
