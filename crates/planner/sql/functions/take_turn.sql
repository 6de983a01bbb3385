-- Whoever changes what belongs to one person waits here for the one before, so that no two of them can hold what the
-- other needs. Called before the transaction has an id: one that waits for a row has its id already, and the bus tells
-- things in the order of those ids.
create or replace function planner.take_turn(p_workspace_id uuid, p_person_id bigint)
returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('planner.person:' || p_workspace_id || ':' || p_person_id, 0));
end
$$;
