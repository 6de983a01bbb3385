-- Takes the turn of those who change the rules of a workspace: versions are counted, and rules judged, one change at a
-- time.
create or replace function shopbot.lock_rules(p_workspace_id uuid) returns void language sql as $$
    select pg_advisory_xact_lock(hashtext('shopbot.rules'), hashtext(p_workspace_id::text))
$$;
