-- Switches row security on for a table of workspace data: the ordinary role sees the workspace that its
-- transaction names, the system role (dispatcher, runner, monitors) sees all.
create or replace function platform.protect(p_table regclass) returns void language plpgsql as $$
begin
    execute format('alter table %s enable row level security', p_table);
    execute format('alter table %s force row level security', p_table);
    execute format('create policy only_this_workspace on %s to beresta_app
                    using (workspace_id = platform.workspace_id())
                    with check (workspace_id = platform.workspace_id())', p_table);
    execute format('create policy every_workspace on %s to beresta_system using (true) with check (true)', p_table);
end
$$;
