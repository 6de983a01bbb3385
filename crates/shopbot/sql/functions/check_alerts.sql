-- Looks for trouble with every bot and keeps shopbot.bot_alerts in step: raised once, told when raised and again after the bot's time
-- while it lasts, cleared when it is over. Whoever is to be told gets a job in the same transaction, so an alert is neither
-- lost nor told twice. Returns how many were told.
--   error_rate    the share of messages that went wrong is above what the bot allows
--   late_answers  an answer has waited for more than five minutes
create or replace function shopbot.check_alerts() returns int language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    trouble record;
    known shopbot.bot_alerts;
    told int := 0;
begin
    for trouble in
        select b.workspace_id, b.provider, b.alert_chat_id, b.alert_again_seconds, t.alert, t.is_on, t.details
          from shopbot.bots b
          join core.workspaces w on w.workspace_id = b.workspace_id and w.status = 'active'
         cross join lateral (
               select 'error_rate' as alert, e.rate > b.alert_error_rate and e.messages >= b.alert_min_messages as is_on,
                      jsonb_build_object('messages', e.messages, 'errors', e.errors, 'rate', e.rate) as details
                 from shopbot.error_rate(b.workspace_id, b.provider) e
               union all
               select 'late_answers', count(*) > 0, jsonb_build_object('count', count(*), 'oldest', min(o.created_at),
                      'sample', (array_agg(o.last_error->>'code'))[1], 'closed_until', b.closed_until)
                 from (select o.created_at, o.last_error from shopbot.bot_outbox o
                        where o.workspace_id = b.workspace_id and o.provider = b.provider and o.phase = 'open'
                          and o.created_at < now_ts - interval '5 minutes' limit 1000) o) t
         where b.enabled
         order by b.workspace_id, b.provider, t.alert
    loop
        if not trouble.is_on then
            update shopbot.bot_alerts a set cleared_at = now_ts
             where a.workspace_id = trouble.workspace_id and a.provider = trouble.provider and a.alert = trouble.alert and a.cleared_at is null;
            continue;
        end if;
        insert into shopbot.bot_alerts as a (workspace_id, provider, alert, raised_at) values (trouble.workspace_id, trouble.provider, trouble.alert, now_ts)
        on conflict (workspace_id, provider, alert) do update
           set raised_at = case when a.cleared_at is null then a.raised_at else now_ts end,
               told_at = case when a.cleared_at is null then a.told_at end, cleared_at = null
        returning * into known;
        continue when known.told_at > now_ts - trouble.alert_again_seconds * interval '1 second';
        update shopbot.bot_alerts a set told_at = now_ts, details = trouble.details
         where a.workspace_id = trouble.workspace_id and a.provider = trouble.provider and a.alert = trouble.alert;
        perform ops.append_journal(trouble.workspace_id, 'shopbot', 'alert', trouble.alert, null,
                                   trouble.details || jsonb_build_object('provider', trouble.provider));
        if trouble.alert_chat_id is not null then
            perform ops.enqueue_job(trouble.workspace_id, 'shopbot.alert',
                jsonb_build_object('provider', trouble.provider, 'alert', trouble.alert, 'details', trouble.details));
        end if;
        told := told + 1;
    end loop;
    return told;
end
$$;
