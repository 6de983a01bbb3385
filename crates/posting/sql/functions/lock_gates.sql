-- Takes the turn of those who decide what a workspace may send now: claim, start of sending, closing of a key. First
-- lock of all, held to the end of the transaction.
create or replace function posting.lock_gates(p_workspace_id uuid) returns void language sql as $$
    select pg_advisory_xact_lock(hashtext('posting.gates'), hashtext(p_workspace_id::text))
$$;
