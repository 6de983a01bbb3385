-- The workspaces that have anything under way, for a dispatcher to go round; the paused and disabled ones wait. p_known are those that
-- it has just found busy: of them it need not be told, and the entries that their finished deliveries left are not read.
create or replace function posting.due_workspaces(p_known uuid[] default '{}') returns setof uuid language sql stable as $$
    select w.workspace_id from core.workspaces w
     -- One look for each, and never a join over all that is under way.
     cross join lateral (select from posting.deliveries d where d.workspace_id = w.workspace_id and d.phase = 'inflight' limit 1) d
     where w.status = 'active' and w.workspace_id <> all (p_known)
     order by w.workspace_id
$$;
