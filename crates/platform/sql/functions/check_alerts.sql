-- Looks for what is wrong with one module, in every workspace, and brings ops.alerts in step: see ops.settle_alerts.
-- The module supplies MODULE.find_trouble(workspace) returns setof ops.findings: everything that is wrong now in
-- that workspace or, given null, in all of them.
-- Guarantees: an error of that function is confined to the workspaces that cause it. There it is recorded and raised
-- as the alert `check_failed`, and what was raised before stays; the others are looked at one by one. p_failure says
-- why a look could not end by itself, because it took too long for example. One look at a time: if another process
-- looks right now, nothing happens.
create or replace function ops.check_alerts(p_module text, p_failure text default null, out told int, out cleared int)
language plpgsql as $$
declare
    system_id constant uuid := '00000000-0000-0000-0000-000000000000';
    findings ops.findings[] := '{}';
    found_here ops.findings[];
    unknown uuid[] := '{}';
    team uuid;
begin
    told := 0;
    cleared := 0;
    if not pg_try_advisory_xact_lock(hashtext('ops.check_alerts'), hashtext(p_module)) then
        return;
    end if;
    if p_failure is not null then
        unknown := array(select w.workspace_id from core.workspaces w);
        findings := array[(system_id, 'check_failed', '', 1, null, platform.now(), p_failure, null)::ops.findings];
    else
        begin
            execute format('select array_agg(f) from %I.find_trouble(null) f', p_module) into findings;
        exception when others then
            findings := '{}';
            for team in select w.workspace_id from core.workspaces w order by w.workspace_id loop
                begin
                    execute format('select array_agg(f) from %I.find_trouble($1) f', p_module)
                       into found_here using team;
                    findings := findings || found_here;
                exception when others then
                    unknown := unknown || team;
                    findings := findings
                        || (team, 'check_failed', '', 1, sqlstate, platform.now(), sqlerrm, null)::ops.findings;
                end;
            end loop;
        end;
    end if;
    insert into ops.errors (workspace_id, source, op, message, retryable, error)
    select f.workspace_id, p_module, 'find_trouble', f.why, true, jsonb_build_object('code', f.sample)
      from unnest(findings) f
     where f.alert = 'check_failed'
       and not exists (select from ops.alerts a where a.workspace_id = f.workspace_id and a.module = p_module
                          and a.alert = f.alert and a.subject = f.subject and a.cleared_at is null);
    select s.told, s.cleared into told, cleared from ops.settle_alerts(p_module, coalesce(findings, '{}'), unknown) s;
end
$$;
