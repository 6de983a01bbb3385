-- The workspace that this transaction names, or null: no workspace means no rows.
create or replace function platform.workspace_id() returns uuid language sql stable parallel safe as $$
    select nullif(current_setting('platform.workspace_id', true), '')::uuid
$$;
