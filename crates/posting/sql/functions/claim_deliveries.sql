-- Claims up to p_limit due deliveries of one workspace for the holder of p_run_id, which becomes their claim token. A run id
-- is for one claim: whoever holds it may start and finish these deliveries, and nobody else.
create or replace function posting.claim_deliveries(p_workspace_id uuid, p_run_id text, p_limit int)
returns setof posting.deliveries language sql as $$
    select * from posting.claim_due(p_workspace_id, p_run_id, p_limit, '{}')
$$;
