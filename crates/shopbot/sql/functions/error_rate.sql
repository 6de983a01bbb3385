-- How a bot has done in the last fifteen minutes: messages that came in (updates that could not be read among them),
-- and those that went wrong, because they could not be read or their answer was not sent. Counting stops at 10000
-- messages and 1000 errors.
create or replace function shopbot.error_rate(p_workspace_id uuid, p_bot_id uuid)
returns table (messages bigint, errors bigint, rate numeric) language sql stable as $$
    select l.n + p.n, f.n + p.n, round((f.n + p.n)::numeric / greatest(l.n + p.n, f.n, 1), 3)
      from (select platform.now() - interval '15 minutes' as since) s
     cross join lateral (select count(*) as n from (
               select from shopbot.bot_logs l
                where l.workspace_id = p_workspace_id and l.ts > s.since and l.bot_id = p_bot_id limit 10000) l) l
     cross join lateral (select count(*) as n from (
               select from shopbot.bot_outbox o
                where o.workspace_id = p_workspace_id and o.bot_id = p_bot_id
                  and o.phase in ('failed', 'dead') and o.failed_at > s.since limit 1000) o) f
     cross join lateral (select count(*) as n from (
               select x.bot_id, x.received_at from shopbot.bot_poison x
                where x.workspace_id = p_workspace_id order by x.id desc limit 1000) x
                where x.bot_id = p_bot_id and x.received_at > s.since) p
$$;
