-- The XP that a person has: the sum of the ledger.
create or replace function planner.total_xp(p_workspace_id uuid, p_person_id bigint)
returns bigint language sql stable as $$
    select coalesce(sum(e.amount), 0)::bigint from planner.xp_entries e
     where e.workspace_id = p_workspace_id and e.person_id = p_person_id
$$;
