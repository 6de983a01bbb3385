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
    /// `max` or `telegram`.
    pub provider: String,
    pub enabled: bool,
    /// Until then nothing is sent: the provider asked for that, or refuses the token.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub closed_until: Option<Time>,
    /// Messages of the last 15 minutes; counting stops after 10000.
    pub messages: i64,
    /// How many of them could not be read or answered; counting stops after 1000.
    pub errors: i64,
    pub error_rate: f64,
    /// Above this an alert is raised.
    pub alert_error_rate: f64,
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

/// The bots of the workspace, by messenger.
pub async fn bots(tx: &mut PgConnection) -> Result<Vec<BotRead>, DbError> {
    let query = "select b.provider, b.enabled, case when b.closed_until > platform.now() then b.closed_until end as closed_until,
                        e.messages, e.errors, e.rate::float8 as error_rate, b.alert_error_rate::float8 as alert_error_rate,
                        (select count(*) from (select from shopbot.bot_outbox o where o.workspace_id = b.workspace_id
                                                  and o.provider = b.provider and o.phase = 'open' limit 1001) o) as waiting,
                        coalesce((select jsonb_agg(jsonb_build_object('alert', a.alert, 'raised_at', a.raised_at, 'details', a.details)
                                                   order by a.alert)
                                    from shopbot.bot_alerts a
                                   where a.workspace_id = b.workspace_id and a.provider = b.provider and a.cleared_at is null),
                                 '[]') as alerts,
                        b.greeting_text, b.fallback_text, b.escalation_text, b.unsupported_text, b.menu, b.variables
                   from shopbot.bots b cross join lateral shopbot.error_rate(b.workspace_id, b.provider) e
                  where b.workspace_id = platform.workspace_id()
                  order by b.provider";
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
