-- What is wrong with posting now, in one workspace or, given null, in all; see ops.check_alerts.
--   dead_letters        deliveries that are dead after their last attempt, by channel
--   failures            more deliveries than the policy allows failed for good in the last ten minutes, by channel
--   paused_channels     more channels than the policy allows are paused
--   disabled_channels   channels that were disabled after failing again and again
--   credential_missing  channels whose token is bound nowhere, or was missing or refused when they last sent
--   failing_sources     sources whose last three pulls or more have failed
--   orphan_events       events that refer to nothing, as posting.find_orphan_events counted them
create or replace function posting.find_trouble(p_workspace_id uuid) returns setof ops.findings language sql as $$
    with teams as materialized (
        select p.* from core.workspaces w cross join lateral posting.policy(w.workspace_id) p
         where (p_workspace_id is null or w.workspace_id = p_workspace_id)
           and (exists (select from posting.channels c where c.workspace_id = w.workspace_id)
                or exists (select from posting.pull_sources s where s.workspace_id = w.workspace_id))
    ), troubles as (
        select t.workspace_id, 'dead_letters' as alert, d.channel_id as subject, count(*) as count,
               (array_agg(d.last_error->>'code' order by d.created_at desc))[1] as sample, min(d.created_at) as since,
               (array_agg(d.last_error->>'message' order by d.created_at desc))[1] as why, 0 as allowed
          from teams t
         cross join lateral (select x.channel_id, x.created_at, x.last_error from posting.deliveries x
                              where x.workspace_id = t.workspace_id and x.phase = 'dead'
                              order by x.created_at desc limit 1000) d
         group by t.workspace_id, d.channel_id
        union all
        select t.workspace_id, 'failures', coalesce(e.channel_id, ''), count(*),
               (array_agg(e.error->>'code' order by e.ts desc))[1], min(e.ts),
               (array_agg(e.error->>'message' order by e.ts desc))[1], t.alert_failed_max
          from teams t
         cross join lateral (select x.channel_id, x.ts, x.error from posting.events x
                              where x.workspace_id = t.workspace_id and x.ts > platform.now() - interval '10 minutes'
                                and x.action in ('failed_permanent', 'validation_failed') limit 1000) e
         group by t.workspace_id, t.alert_failed_max, e.channel_id
        union all
        select t.workspace_id, 'paused_channels', c.channel_id, 1, null, null,
               format('paused until %s UTC', to_char(c.paused_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI')),
               t.alert_paused_max
          from teams t join posting.channels c on c.workspace_id = t.workspace_id and c.paused_until > platform.now()
        union all
        select t.workspace_id, 'disabled_channels', c.channel_id, 1, null, null,
               format('refused %s times in a row', c.error_streak), 0
          from teams t
          join posting.channels c on c.workspace_id = t.workspace_id and not c.enabled
                                 and c.error_streak >= t.disable_after_permanent_streak
        union all
        select t.workspace_id, 'credential_missing', c.channel_id, 1, k.auth_ref, e.ts,
               coalesce(e.error->>'message', format('no credential `%s` for %s', k.auth_ref, c.platform)), 0
          from teams t
          join posting.channels c on c.workspace_id = t.workspace_id
         cross join lateral (select coalesce((select a.auth_ref from posting.channel_auth a
                                               where a.workspace_id = c.workspace_id and a.channel_id = c.channel_id),
                                             c.auth_ref) as auth_ref) k
          left join posting.credential_bindings b
            on b.workspace_id = c.workspace_id and b.auth_ref = k.auth_ref and b.platform = c.platform
          left join lateral (select x.ts, x.error from posting.events x
                              where x.workspace_id = c.workspace_id and x.channel_id = c.channel_id
                                and x.result = 'error' and c.error_streak > 0
                              order by x.ts desc limit 1) e on platform.error_kind(e.error) = 'unauthorized'
         where (c.enabled and b.auth_ref is null) or e.ts is not null
        union all
        select t.workspace_id, 'failing_sources', s.source_id, 1, f.failures::text, r.since,
               format('%s pulls in a row have failed: %s', f.failures, r.error), 0
          from teams t
          join posting.pull_sources s on s.workspace_id = t.workspace_id and s.enabled
          join posting.pull_cursors c on c.workspace_id = s.workspace_id and c.source_id = s.source_id
         cross join lateral (select case when jsonb_typeof(c.cursor_json->'failures') = 'number'
                                         then (c.cursor_json->>'failures')::numeric else 0 end as failures) f
         cross join lateral (select min(l.started_at) as since,
                                    (array_agg(l.error order by l.started_at desc))[1] as error
                               from (select i.started_at, i.stats_json->>'error' as error from posting.ingest_runs i
                                      where i.workspace_id = s.workspace_id and i.source_id = s.source_id
                                        and i.finished_at is not null
                                      order by i.started_at desc limit least(f.failures, 100)) l) r
         where f.failures >= 3
        union all
        select t.workspace_id, 'orphan_events', '', a.orphan_events, null, null, null, 0
          from teams t join posting.audits a on a.workspace_id = t.workspace_id
    )
    select t.workspace_id, t.alert, t.subject, t.count, t.sample, t.since, t.why,
           p.alert_again_seconds * interval '1 second'
      from (select x.*, sum(x.count) over (partition by x.workspace_id, x.alert) as total from troubles x) t
      join teams p on p.workspace_id = t.workspace_id
     where t.total > t.allowed
$$;
