-- Brings the alerts of a module in step with what was found: the only function that raises, tells and clears.
-- Guarantees: an alert is told when it is raised; when it has grown (a new subject or a higher count), at most once
-- a minute; and again after the time that the finding names, while any subject of it is not acknowledged. What is no
-- longer found is cleared, except in the workspaces p_unknown, where nobody could look. What is found again within ten
-- minutes is the same alert, reopened: whoever took it on still has it, and it is not told as a new one. State,
-- journal, bus and one job for each target are one transaction: an alert is neither lost nor told twice, and a target
-- that fails does not repeat the others. If the targets cannot be found, that is recorded, and the alert is raised all
-- the same. `told` and `cleared` count alerts, not subjects.
create or replace function ops.settle_alerts(
    p_module text, p_found ops.findings[], p_unknown uuid[], out told int, out cleared int
) language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    trouble record;
    event text;
begin
    told := 0;
    cleared := 0;
    p_found := array(
        select distinct on (f.workspace_id, f.alert, left(f.subject, 200))
               (f.workspace_id, f.alert, left(f.subject, 200), f.count, left(f.sample, 200), f.since, left(f.why, 500),
                f.remind_after)::ops.findings
          from unnest(p_found) f order by f.workspace_id, f.alert, left(f.subject, 200));
    delete from ops.alerts a using unnest(p_found) f
     where a.workspace_id = f.workspace_id and a.module = p_module and a.alert = f.alert and a.subject = f.subject
       and a.cleared_at <= now_ts - interval '10 minutes';
    for trouble in
        with back as (
            update ops.alerts a set cleared_at = null from unnest(p_found) f
             where a.workspace_id = f.workspace_id and a.module = p_module and a.alert = f.alert
               and a.subject = f.subject and a.cleared_at is not null
            returning a.workspace_id, a.alert, a.subject
        )
        -- As it was before this statement: an alert of which another subject stayed open was never over.
        select b.workspace_id, b.alert, array_agg(b.subject order by b.subject) as subjects
          from back b
         where not exists (select from ops.alerts a
                            where a.workspace_id = b.workspace_id and a.module = p_module and a.alert = b.alert
                              and a.cleared_at is null)
         group by 1, 2 order by 1, 2
    loop
        perform ops.announce_alert(trouble.workspace_id, p_module, trouble.alert, 'reopened',
                                   jsonb_build_object('subjects', trouble.subjects[1:20]));
    end loop;
    insert into ops.alerts as a (workspace_id, module, alert, subject, count, sample, since, why, raised_at)
    select f.workspace_id, p_module, f.alert, f.subject, f.count, f.sample, f.since, f.why, now_ts
      from unnest(p_found) f
    on conflict (workspace_id, module, alert, subject) do update
       set count = excluded.count, sample = excluded.sample, since = excluded.since, why = excluded.why
     where (a.count, a.sample, a.since, a.why)
           is distinct from (excluded.count, excluded.sample, excluded.since, excluded.why);

    for trouble in
        with over as (
            update ops.alerts a set cleared_at = now_ts
             where a.module = p_module and a.cleared_at is null and a.workspace_id <> all (p_unknown)
               and not exists (select from unnest(p_found) f
                                where f.workspace_id = a.workspace_id and f.alert = a.alert and f.subject = a.subject)
            returning a.workspace_id, a.alert, a.subject
        )
        select o.workspace_id, o.alert, array_agg(o.subject order by o.subject) as subjects
          from over o group by 1, 2 order by 1, 2
    loop
        continue when exists (select from ops.alerts a
                               where a.workspace_id = trouble.workspace_id and a.module = p_module
                                 and a.alert = trouble.alert and a.cleared_at is null);
        perform ops.announce_alert(trouble.workspace_id, p_module, trouble.alert, 'cleared',
                                   jsonb_build_object('subjects', trouble.subjects[1:20]));
        cleared := cleared + 1;
    end loop;

    for trouble in
        select a.workspace_id, a.alert, max(a.told_at) as told_at, bool_or(a.count > a.told_count) as has_grown,
               bool_and(a.acknowledged_at is not null) as is_acknowledged,
               coalesce(min(f.remind_after), interval '1 hour') as remind_after,
               jsonb_build_object('count', sum(a.count),
                                  'subjects', (array_agg(a.subject order by a.count desc, a.subject))[1:20],
                                  'sample', (array_agg(a.sample order by a.count desc, a.subject))[1],
                                  'why', (array_agg(a.why order by a.count desc, a.subject))[1]) as details
          from ops.alerts a
          join unnest(p_found) f on f.workspace_id = a.workspace_id and f.alert = a.alert and f.subject = a.subject
         where a.module = p_module
         group by a.workspace_id, a.alert order by a.workspace_id, a.alert
    loop
        event := case when trouble.told_at is null then 'raised'
                      when trouble.has_grown and trouble.told_at <= now_ts - interval '1 minute' then 'grew'
                      when not trouble.is_acknowledged and trouble.told_at <= now_ts - trouble.remind_after
                      then 'reminded' end;
        continue when event is null;
        update ops.alerts a set told_at = now_ts, told_count = a.count
         where a.workspace_id = trouble.workspace_id and a.module = p_module and a.alert = trouble.alert
           and a.cleared_at is null;
        perform ops.announce_alert(trouble.workspace_id, p_module, trouble.alert, event, trouble.details);
        -- One live job for each target. It reads the alert when it runs, so a target that was away gets no old news.
        begin
            -- A monitor may look before any runner has registered the type.
            insert into ops.job_types (job_type, attempts_max, lease_ms) values ('ops.alert', 12, 60000)
            on conflict do nothing;
            perform ops.enqueue_job(trouble.workspace_id, 'ops.alert',
                                    jsonb_build_object('module', p_module, 'alert', trouble.alert) || to_jsonb(t), null,
                                    md5(concat_ws(' ', p_module, trouble.alert, t.kind, t.address)))
               from ops.alert_targets(trouble.workspace_id, p_module) t;
        exception when others then
            perform ops.record_error(trouble.workspace_id, p_module, null, 'alert_targets', null, null, null, sqlerrm,
                                     true, jsonb_build_object('code', sqlstate, 'alert', trouble.alert));
        end;
        told := told + 1;
    end loop;
end
$$;
