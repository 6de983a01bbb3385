-- The workspaces that have anything under way, for a dispatcher to go round; the paused and disabled ones wait. p_known
-- are those that it has just found busy: of them it need not be told.
-- One look for a workspace, from its heads where it has some, and never a join over all that is under way.
create or replace function posting.due_workspaces(p_known uuid[] default '{}')
returns setof uuid language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
    as $$
declare
    team uuid;
begin
    for team in select w.workspace_id from core.workspaces w where w.status = 'active'
        and w.workspace_id <> all (p_known) order by w.workspace_id loop
        if exists (select from posting.queue_heads h where h.workspace_id = team) then
            perform from posting.channels c
               left join posting.queue_heads h on h.workspace_id = c.workspace_id and h.channel_id = c.channel_id
              cross join lateral (select from posting.deliveries d
                                   where d.workspace_id = c.workspace_id and d.channel_id = c.channel_id
                                     and d.phase = 'inflight'
                                     and d.created_at >= coalesce(h.head_at, '-infinity') limit 1) d
              where c.workspace_id = team and c.enabled limit 1;
        else
            perform from posting.deliveries d where d.workspace_id = team and d.phase = 'inflight' limit 1;
        end if;
        if found then
            return next team;
        end if;
    end loop;
end
$$;
