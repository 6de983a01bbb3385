//! Posting at a glance. Every number has a bound, so that a bad day does not make looking at it worse.

use std::collections::BTreeMap;

use platform::{
    DbError,
    reads::{Time, maybe_time, time},
};
use serde::Serialize;
use sqlx::{FromRow, PgConnection};

/// Counting stops here: more than this is "more than this".
pub const COUNT_MAX: i64 = 10_000;

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// Deliveries under way by status, of 10 000 at most.
    pub inflight: BTreeMap<String, i64>,
    /// Whether there are more under way than were counted.
    pub inflight_is_capped: bool,
    /// Sent in the last minute, counted up to 10 000.
    pub sent_last_minute: i64,
    /// Ended as `failed_permanent` in the last 24 hours, counted up to 10 000.
    pub failed_last_day: i64,
    /// Ended as `dead` in the last 24 hours, counted up to 10 000.
    pub dead_last_day: i64,
    /// The most frequent errors of the last hour.
    pub top_errors: Vec<TopError>,
    /// Channels that are paused now, at most 100.
    pub paused: Vec<PausedChannel>,
    pub disabled_channels: i64,
}

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct TopError {
    pub code: String,
    /// In how many attempts.
    pub attempts: i64,
    /// In how many channels.
    pub channels: i64,
    /// What the newest of them said.
    pub message: Option<String>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Time,
}

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct PausedChannel {
    pub channel_id: String,
    pub platform: String,
    pub title: Option<String>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub paused_until: Option<Time>,
    pub error_streak: i32,
}

pub async fn health(tx: &mut PgConnection) -> Result<Health, DbError> {
    let counted: Vec<(String, i64)> = sqlx::query_as(
        "select q.status, count(*)
           from (select d.status from posting.deliveries d
                  where d.workspace_id = platform.workspace_id() and d.phase = 'inflight' limit $1 + 1) q
          group by q.status",
    )
    .bind(COUNT_MAX)
    .fetch_all(&mut *tx)
    .await?;
    let inflight_is_capped = counted.iter().map(|(_, n)| n).sum::<i64>() > COUNT_MAX;
    // The order is there for the planner, which otherwise reads a whole day for the last minute.
    let (sent_last_minute, failed_last_day, dead_last_day, disabled_channels) = sqlx::query_as(
        "select (select count(*) from (select from posting.events e where e.workspace_id = platform.workspace_id()
                    and e.ts > (select platform.now() - interval '1 minute') and e.action = 'sent' order by e.ts desc limit $1) q),
                (select count(*) from (select from posting.events e where e.workspace_id = platform.workspace_id()
                    and e.action in ('failed_permanent', 'validation_failed') and e.ts > (select platform.now() - interval '1 day') limit $1) q),
                (select count(*) from (select from posting.events e where e.workspace_id = platform.workspace_id()
                    and e.action = 'dead_letter' and e.ts > (select platform.now() - interval '1 day') limit $1) q),
                (select count(*) from posting.channels c where c.workspace_id = platform.workspace_id() and not c.enabled)",
    )
    .bind(COUNT_MAX)
    .fetch_one(&mut *tx)
    .await?;
    // A failed attempt leaves several events; it is one failure.
    let top_errors = sqlx::query_as(
        "select q.code, count(distinct (q.delivery_id, q.attempt)) as attempts, count(distinct q.channel_id) as channels,
                (array_agg(q.message order by q.ts desc))[1] as message, max(q.ts) as last_at
           from (select e.error->>'code' as code, e.error->>'message' as message, e.delivery_id, e.attempt, e.channel_id, e.ts
                   from posting.events e
                  where e.workspace_id = platform.workspace_id() and e.result = 'error' and e.ts > (select platform.now() - interval '1 hour')
                    and e.delivery_id is not null and e.error ? 'code'
                  order by e.ts desc limit $1) q
          group by q.code order by attempts desc, q.code limit 10",
    )
    .bind(COUNT_MAX)
    .fetch_all(&mut *tx)
    .await?;
    let paused = sqlx::query_as(
        "select c.channel_id, c.platform, c.title, nullif(c.paused_until, 'infinity') as paused_until, c.error_streak from posting.channels c
          where c.workspace_id = platform.workspace_id() and c.enabled and c.paused_until > platform.now()
          order by c.channel_id limit 100",
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(Health {
        inflight: counted.into_iter().collect(),
        inflight_is_capped,
        sent_last_minute,
        failed_last_day,
        dead_last_day,
        top_errors,
        paused,
        disabled_channels,
    })
}
