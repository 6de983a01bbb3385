//! What changes when anything does, for those who watch.

use platform::DbError;
use sqlx::PgConnection;

/// Changes with whatever happens to the bots of the workspace: messages, answers, rules, alerts, what could not be read. And with
/// every minute, because states run out and rates fall by themselves.
pub async fn pulse(tx: &mut PgConnection) -> Result<String, DbError> {
    // More than one message, because the one that is committed last is not always the newest.
    let query = "select concat_ws(' ', date_trunc('minute', platform.now()),
                        (select md5(string_agg(l.id::text, ' ' order by l.ts desc, l.id desc))
                           from (select l.id, l.ts from shopbot.bot_logs l where l.workspace_id = platform.workspace_id()
                                  order by l.ts desc, l.id desc limit 100) l),
                        (select count(*) || ' ' || max(o.updated_at)
                           from (select o.updated_at from shopbot.bot_outbox o
                                  where o.workspace_id = platform.workspace_id() and o.phase = 'open' limit 1000) o),
                        (select md5(string_agg(concat_ws(' ', b.provider, b.enabled, b.closed_until, f.failed_at), ' ' order by b.provider))
                           from shopbot.bots b
                           left join lateral (select o.failed_at from shopbot.bot_outbox o
                                               where o.workspace_id = b.workspace_id and o.provider = b.provider
                                                 and o.phase in ('failed', 'dead') order by o.failed_at desc limit 1) f on true
                          where b.workspace_id = platform.workspace_id()),
                        (select md5(string_agg(concat_ws(' ', a.provider, a.alert, a.raised_at, a.told_at, a.cleared_at), ' '
                                               order by a.provider, a.alert))
                           from shopbot.bot_alerts a where a.workspace_id = platform.workspace_id()),
                        (select sum(p.seen_count) || ' ' || max(p.last_seen_at)
                           from (select p.seen_count, p.last_seen_at from shopbot.bot_poison p
                                  where p.workspace_id = platform.workspace_id() order by p.id desc limit 100) p),
                        (select count(*) || ' ' || coalesce(sum(hashtext(r.rule_id)::bigint * r.version) filter (where r.enabled), 0)
                           from shopbot.bot_rules r where r.workspace_id = platform.workspace_id()))";
    Ok(sqlx::query_scalar(query).fetch_one(tx).await?)
}
