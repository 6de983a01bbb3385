//! Bots, how they do, and what they could not read.

use platform::{
    DbError,
    reads::{Time, maybe_time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection};
use uuid::Uuid;

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct BotRead {
    pub bot_id: Uuid,
    /// As it is registered.
    pub name: String,
    /// How alerts name it: the messenger and, where there are several bots in it, the name.
    #[serde(skip)]
    pub subject: String,
    /// `max` or `telegram`.
    pub provider: String,
    pub enabled: bool,
    /// Until then nothing is sent: the provider asked for that, or refuses the token.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub closed_until: Option<Time>,
    /// Answers a second over all chats, and in one chat; absent: no limit of ours.
    pub rate_rps: Option<f64>,
    pub chat_rps: Option<f64>,
    /// When the next answer may go, while the bot is sending as fast as it may.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_allowed_at: Option<Time>,
    /// Messages of the last 15 minutes; counting stops after 10000.
    pub messages: i64,
    /// How many of them could not be read or answered; counting stops after 1000.
    pub errors: i64,
    pub error_rate: f64,
    /// Above this an alert is raised, if there were at least so many messages.
    pub alert_error_rate: f64,
    pub alert_min_messages: i32,
    /// Who is told of alerts.
    pub alert_chat_id: Option<String>,
    /// Answers that wait to be sent; counting stops after 1000.
    pub waiting: i64,
    /// What is wrong right now: `[{alert, raised_at, details}]`.
    #[schema(value_type = Object)]
    pub alerts: Value,
    pub greeting_text: String,
    pub fallback_text: String,
    pub escalation_text: String,
    pub unsupported_text: String,
    #[schema(value_type = Object)]
    pub menu: Value,
    #[schema(value_type = Object)]
    pub variables: Value,
}

/// The bots of the workspace, by messenger and name.
pub async fn bots(tx: &mut PgConnection) -> Result<Vec<BotRead>, DbError> {
    let query = "select b.bot_id, r.name, shopbot.bot_subject(b.workspace_id, b.bot_id) as subject, b.provider, r.enabled,
                        case when b.closed_until > platform.now() then b.closed_until end as closed_until,
                        b.rate_rps::float8 as rate_rps, b.chat_rps::float8 as chat_rps,
                        case when b.next_allowed_at > platform.now() then b.next_allowed_at end as next_allowed_at,
                        e.messages, e.errors, e.rate::float8 as error_rate, b.alert_error_rate::float8 as alert_error_rate,
                        b.alert_min_messages, b.alert_chat_id,
                        (select count(*) from (select from shopbot.bot_outbox o where o.workspace_id = b.workspace_id
                                                  and o.bot_id = b.bot_id and o.phase = 'open' limit 1001) o) as waiting,
                        coalesce((select jsonb_agg(jsonb_build_object('alert', a.alert, 'raised_at', a.raised_at, 'details',
                                                       jsonb_build_object('count', a.count, 'sample', a.sample, 'since', a.since, 'why', a.why))
                                                   order by a.alert)
                                    from ops.alerts a where a.workspace_id = b.workspace_id and a.cleared_at is null
                                     and (a.module = 'shopbot' and a.subject = shopbot.bot_subject(b.workspace_id, b.bot_id)
                                          or (a.module, a.alert, a.subject) = ('ops', 'bot_without_token', r.name))),
                                 '[]') as alerts,
                        b.greeting_text, b.fallback_text, b.escalation_text, b.unsupported_text, b.menu, b.variables
                   from shopbot.bots b join core.bots r using (workspace_id, bot_id)
                  cross join lateral shopbot.error_rate(b.workspace_id, b.bot_id) e
                  where b.workspace_id = platform.workspace_id()
                  order by b.provider, r.name";
    Ok(sqlx::query_as(query).fetch_all(tx).await?)
}

/// Whether the answers of a bot can go out at all.
#[derive(Clone, Debug, FromRow)]
pub struct WayOut {
    pub bot_id: Uuid,
    pub provider: String,
    pub enabled: bool,
    /// Until then nothing is sent.
    pub closed_until: Option<Time>,
}

/// The way out of each bot of the workspace, by messenger.
pub async fn ways_out(tx: &mut PgConnection) -> Result<Vec<WayOut>, DbError> {
    let query = "select b.bot_id, b.provider, r.enabled,
                        case when b.closed_until > platform.now() then b.closed_until end as closed_until
                   from shopbot.bots b join core.bots r using (workspace_id, bot_id)
                  where b.workspace_id = platform.workspace_id() order by b.provider, b.created_at, b.bot_id";
    Ok(sqlx::query_as(query).fetch_all(tx).await?)
}

/// Trouble with a bot, as long as it lasts and afterwards until it comes again.
#[derive(Clone, Debug, FromRow)]
pub struct BotAlertRead {
    /// The bot, as `shopbot.bot_subject` names it: the messenger first.
    pub subject: String,
    pub provider: String,
    /// `error_rate`, `late_answers`, or `bot_without_token` of the platform.
    pub alert: String,
    pub raised_at: Time,
    pub told_at: Option<Time>,
    /// Absent while it lasts.
    pub cleared_at: Option<Time>,
    pub count: i64,
    pub why: Option<String>,
}

/// The alerts of the workspace, by messenger and kind: each kind once, as it was last.
pub async fn alerts(tx: &mut PgConnection) -> Result<Vec<BotAlertRead>, DbError> {
    let query = "select n.subject, split_part(n.subject, ' ', 1) as provider, a.alert, a.raised_at, a.told_at, a.cleared_at, a.count, a.why
                   from ops.alerts a
                   left join core.bots b on b.workspace_id = a.workspace_id and b.name = a.subject and b.serves = 'shopbot'
                  cross join lateral (select case a.module when 'shopbot' then a.subject
                                                           else shopbot.bot_subject(b.workspace_id, b.bot_id) end as subject) n
                  where a.workspace_id = platform.workspace_id()
                    and (a.module = 'shopbot' or (a.module, a.alert) = ('ops', 'bot_without_token') and b.bot_id is not null)
                  order by n.subject, a.alert";
    Ok(sqlx::query_as(query).fetch_all(tx).await?)
}

/// An update that was acknowledged and could not be handled.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct PoisonRead {
    pub id: Uuid,
    pub provider: String,
    pub endpoint_id: Option<Uuid>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub received_at: Time,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub last_seen_at: Time,
    /// How often it came.
    pub seen_count: i64,
    pub problem: String,
    /// As it came, redacted and cut.
    pub body: String,
}

/// Newest first; `before` is the last id of the page before.
pub async fn poison(tx: &mut PgConnection, before: Option<Uuid>, limit: i64) -> Result<Vec<PoisonRead>, DbError> {
    let query = "select id, provider, endpoint_id, received_at, last_seen_at, seen_count, problem, body from shopbot.bot_poison
                  where workspace_id = platform.workspace_id() and ($1::uuid is null or id < $1) order by id desc limit $2";
    Ok(sqlx::query_as(query).bind(before).bind(limit).fetch_all(tx).await?)
}
