-- What is wrong with the bots now, in one workspace or, given null, in all; the subject is the messenger,
-- with the name of the bot where there are several in it. See ops.check_alerts.
--   error_rate    the share of messages that went wrong is above what the bot allows
--   late_answers  answers have waited for more than five minutes; counting stops at 1000
create or replace function shopbot.find_trouble(p_workspace_id uuid) returns setof ops.findings
language sql stable as $$
    select b.workspace_id, t.alert, shopbot.bot_subject(b.workspace_id, b.bot_id), t.count, t.sample, t.since, t.why,
           b.alert_again_seconds * interval '1 second'
      from shopbot.bots b
      join core.bots r on r.workspace_id = b.workspace_id and r.bot_id = b.bot_id and r.enabled
      join core.workspaces w on w.workspace_id = b.workspace_id and w.status = 'active'
     cross join lateral (
           select 'error_rate' as alert, 1::bigint as count, e.rate::text as sample, null::timestamptz as since,
                  format('of %s messages in the last 15 minutes, %s went wrong', e.messages, e.errors) as why
             from shopbot.error_rate(b.workspace_id, b.bot_id) e
            where e.rate > b.alert_error_rate and e.messages >= b.alert_min_messages
           union all
           select 'late_answers', count(*), (array_agg(o.last_error->>'code'))[1], min(o.created_at),
                  concat_ws(', ', format('%s waited for more than five minutes', count(*)),
                            'the last error of one is ' || (array_agg(o.last_error->>'code'))[1])
             from (select o.created_at, o.last_error from shopbot.bot_outbox o
                    where o.workspace_id = b.workspace_id and o.bot_id = b.bot_id and o.phase = 'open'
                      and o.created_at < platform.now() - interval '5 minutes' limit 1000) o
           having count(*) > 0) t
     where p_workspace_id is null or b.workspace_id = p_workspace_id
$$;
