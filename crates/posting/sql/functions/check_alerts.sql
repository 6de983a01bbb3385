-- Looks for trouble in every workspace and keeps posting.alerts in step: raised once, told when raised, when it grew (at most once
-- a minute) and again after the policy's time while it lasts; cleared when it is over. Whoever is to be told gets a
-- job in the same transaction, so an alert is neither lost nor told twice. Returns how many were told.
create or replace function posting.check_alerts() returns int language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    trouble record;
    known posting.alerts;
    told int := 0;
begin
    for trouble in
        select w.workspace_id, w.name, p.alert_again_seconds, t.alert, t.n, t.sample,
               (p.alert_telegram_chat_id is not null and p.alert_telegram_auth_ref is not null) or p.alert_email is not null as has_reader
          from core.workspaces w
         cross join lateral posting.policy(w.workspace_id) p
         cross join lateral (
              select 'dead_letters' as alert, count(*) as n, (array_agg(d.channel_id || ': ' || coalesce(d.last_error->>'code', 'unknown')))[1] as sample, 0 as allowed
                from (select x.channel_id, x.last_error from posting.deliveries x where x.workspace_id = w.workspace_id and x.phase = 'dead' order by x.created_at desc limit 1000) d
              union all
              select 'failures', count(*), (array_agg(e.channel_id || ': ' || coalesce(e.error->>'code', 'unknown')))[1], p.alert_failed_max
                from (select x.channel_id, x.error from posting.events x
                       where x.workspace_id = w.workspace_id and x.action in ('failed_permanent', 'validation_failed') and x.ts > now_ts - interval '10 minutes' limit 1000) e
              union all
              select 'paused_channels', count(*), (array_agg(c.channel_id))[1], p.alert_paused_max
                from posting.channels c where c.workspace_id = w.workspace_id and c.paused_until > now_ts
              union all
              select 'disabled_channels', count(*), (array_agg(c.channel_id))[1], 0
                from posting.channels c where c.workspace_id = w.workspace_id and not c.enabled and c.error_streak >= p.disable_after_permanent_streak
              union all
              select 'orphan_events', coalesce(max((a.details->>'orphans')::bigint), 0), null, 0
                from posting.alerts a where a.workspace_id = w.workspace_id and a.alert = 'orphan_events'
         ) t
         where exists (select from posting.channels c where c.workspace_id = w.workspace_id) and t.n > t.allowed
         order by w.workspace_id, t.alert
    loop
        insert into posting.alerts as a (workspace_id, alert, raised_at, details)
        values (trouble.workspace_id, trouble.alert, now_ts, '{}')
        on conflict (workspace_id, alert) do update
           set raised_at = case when a.cleared_at is null then a.raised_at else now_ts end,
               told_at = case when a.cleared_at is null then a.told_at end, cleared_at = null
        returning * into known;
        continue when not (known.told_at is null or known.told_at <= now_ts - trouble.alert_again_seconds * interval '1 second'
                           or (trouble.n > coalesce((known.details->>'count')::bigint, 0) and known.told_at <= now_ts - interval '1 minute'));
        update posting.alerts a
           set told_at = now_ts, details = a.details || jsonb_build_object('count', trouble.n, 'sample', trouble.sample)
         where a.workspace_id = trouble.workspace_id and a.alert = trouble.alert;
        perform ops.append_journal(trouble.workspace_id, 'posting', 'alert', trouble.alert, null, jsonb_build_object('count', trouble.n, 'sample', trouble.sample));
        if trouble.has_reader then
            perform ops.enqueue_job(trouble.workspace_id, 'posting.alert',
                jsonb_build_object('alert', trouble.alert, 'count', trouble.n, 'sample', trouble.sample, 'workspace', trouble.name));
        end if;
        told := told + 1;
    end loop;
    update posting.alerts a set cleared_at = now_ts
     where a.cleared_at is null and a.alert <> 'orphan_events'
       and not case a.alert
             when 'dead_letters' then exists (select from posting.deliveries d where d.workspace_id = a.workspace_id and d.phase = 'dead')
             when 'failures' then (select count(*) from (select from posting.events e where e.workspace_id = a.workspace_id
                                     and e.action in ('failed_permanent', 'validation_failed') and e.ts > now_ts - interval '10 minutes' limit 1000) e)
                                  > (posting.policy(a.workspace_id)).alert_failed_max
             when 'paused_channels' then (select count(*) from posting.channels c where c.workspace_id = a.workspace_id and c.paused_until > now_ts)
                                         > (posting.policy(a.workspace_id)).alert_paused_max
             else exists (select from posting.channels c where c.workspace_id = a.workspace_id and not c.enabled
                             and c.error_streak >= (posting.policy(a.workspace_id)).disable_after_permanent_streak) end;
    return told;
end
$$;
