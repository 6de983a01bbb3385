-- The workspaces with a reply that is due, or with one whose sender is gone. p_known are those that the sender visits
-- anyway.
create or replace function knowledge.due_workspaces(p_known uuid[]) returns setof uuid language sql stable as $$
    select w.workspace_id from core.workspaces w
     where w.status = 'active' and w.workspace_id <> all (p_known)
       and (exists (select from knowledge.replies e
                     where e.workspace_id = w.workspace_id and e.status in ('queued', 'retry')
                       and e.next_attempt_at <= platform.now())
            or exists (select from knowledge.replies e
                        where e.workspace_id = w.workspace_id and e.status = 'sending'
                          and e.claimed_until < platform.now()))
$$;
