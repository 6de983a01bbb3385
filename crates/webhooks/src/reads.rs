//! What people and programs read about webhooks: the same for the API, the command line and the console.
//!
//! Everything is read inside a transaction of one workspace, newest first and by key; a page of deliveries looks at
//! [`SCAN_MAX`] rows at most, and may then be shorter than its limit and still have a `next`.

use platform::{
    DbError,
    reads::{Time, maybe_time, time},
};
use serde::Serialize;
use sqlx::{FromRow, PgConnection, PgExecutor};
use uuid::Uuid;

/// How many rows one page looks at, at most.
pub const SCAN_MAX: i64 = 10_000;
/// Every status that a delivery can have.
pub const STATUSES: [&str; 6] = ["queued", "sending", "retry", "delivered", "failed", "dead"];

/// A subscription. Its secret is not here: only where it is kept.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct SubscriptionRead {
    pub subscription_id: Uuid,
    pub name: String,
    pub url: String,
    /// Types as `post.sent`, all of a kind as `post.*`, or `*`.
    pub events: Vec<String>,
    /// `active`, `paused` (collects deliveries, sends none) or `disabled` (gets none).
    pub status: String,
    /// Why it is not active.
    pub stopped_why: Option<String>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub stopped_at: Option<Time>,
    /// Attempts in a row that failed.
    pub failures: i32,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub failing_since: Option<Time>,
    /// Nothing is sent before: the receiver asked for that, or fails again and again.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub closed_until: Option<Time>,
    /// How many deliveries have arrived in all.
    pub delivered: i64,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub delivered_at: Option<Time>,
    /// Until when the secret before the last rotation signs too.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub old_secret_until: Option<Time>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
}

const SUBSCRIPTION: &str = "select subscription_id, name, url, events, status, stopped_why, stopped_at, failures, failing_since,
           case when closed_until > platform.now() then closed_until end as closed_until, delivered, delivered_at,
           case when old_secret_until > platform.now() then old_secret_until end as old_secret_until, created_at
      from core.webhook_subscriptions
     where workspace_id = platform.workspace_id() and ($1::uuid is null or subscription_id = $1)
     order by name limit 200";

/// The subscriptions of the workspace, by name.
pub async fn subscriptions(tx: &mut PgConnection) -> Result<Vec<SubscriptionRead>, DbError> {
    Ok(sqlx::query_as(SUBSCRIPTION).bind(None::<Uuid>).fetch_all(tx).await?)
}

pub async fn subscription(tx: &mut PgConnection, id: Uuid) -> Result<Option<SubscriptionRead>, DbError> {
    Ok(sqlx::query_as(SUBSCRIPTION).bind(id).fetch_optional(tx).await?)
}

/// An event that a subscription can ask for.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct EventTypeRead {
    pub event_type: String,
    /// When it happens.
    pub about: String,
}

pub async fn event_types(db: impl PgExecutor<'_>) -> Result<Vec<EventTypeRead>, DbError> {
    Ok(sqlx::query_as("select event_type, about from ops.event_types order by event_type").fetch_all(db).await?)
}

/// One event for one subscription.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct WebhookDeliveryRead {
    pub delivery_id: Uuid,
    pub subscription_id: Uuid,
    /// The name of the subscription; absent when it was removed.
    pub subscription: Option<String>,
    /// The header `webhook-id`: the same for every subscription and every attempt.
    pub event_id: Uuid,
    pub event_type: String,
    /// `queued`, `sending`, `retry`, `delivered`, `failed` or `dead`.
    pub status: String,
    pub attempt: i32,
    /// Attempts whose end could not be read: at most so many copies may have arrived beside the first.
    pub unknown_outcomes: i32,
    /// Of a delivery that waits: when it is tried next.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Time>,
    /// The status of the last answer.
    pub last_status: Option<i32>,
    /// How long the last attempt took, in milliseconds.
    pub last_ms: Option<i32>,
    /// The beginning of the last answer, redacted.
    pub last_answer: Option<String>,
    /// Why the last attempt got no answer, or why there will be no attempt.
    pub last_error: Option<String>,
    /// The delivery that this one repeats, because a person asked for it.
    pub resend_of: Option<Uuid>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Time>,
    /// Exactly what is signed and sent.
    pub body: String,
}

#[derive(Clone, Debug, Default)]
pub struct WebhookDeliveryFilter {
    pub subscription_id: Option<Uuid>,
    pub status: Option<String>,
    pub event_type: Option<String>,
    /// Only deliveries after this one in the list: `next` of the page before.
    pub before: Option<Uuid>,
    pub limit: i64,
}

/// One page of deliveries.
#[derive(Clone, Debug)]
pub struct WebhookDeliveryPage {
    pub deliveries: Vec<WebhookDeliveryRead>,
    /// Where the next page begins, if there may be one.
    pub next: Option<Uuid>,
}

/// Deliveries, newest first.
pub async fn deliveries(tx: &mut PgConnection, filter: &WebhookDeliveryFilter) -> Result<WebhookDeliveryPage, DbError> {
    let query = "select d.delivery_id, d.subscription_id, s.name as subscription, d.event_id, d.event_type, d.status, d.attempt,
                        d.unknown_outcomes, case when d.status in ('queued', 'retry') then d.next_attempt_at end as next_attempt_at,
                        d.last_status, d.last_ms, d.last_answer, d.last_error, d.resend_of, d.created_at, d.ended_at, d.body
                   from (select * from ops.webhook_deliveries d
                          where d.workspace_id = platform.workspace_id() and ($1::uuid is null or d.subscription_id = $1)
                            and ($2::uuid is null or d.delivery_id < $2)
                          order by d.delivery_id desc limit $3) d
                   left join core.webhook_subscriptions s using (workspace_id, subscription_id)
                  where ($4::text is null or d.status = $4) and ($5::text is null or d.event_type = $5)
                  order by d.delivery_id desc limit $6";
    let deliveries: Vec<WebhookDeliveryRead> = sqlx::query_as(query)
        .bind(filter.subscription_id)
        .bind(filter.before)
        .bind(SCAN_MAX)
        .bind(&filter.status)
        .bind(&filter.event_type)
        .bind(filter.limit)
        .fetch_all(&mut *tx)
        .await?;
    let is_full = i64::try_from(deliveries.len()) == Ok(filter.limit);
    let next = match deliveries.last() {
        Some(last) if is_full => Some(last.delivery_id),
        // The last row that was looked at, if there are more behind it.
        _ => {
            let query = "select d.delivery_id from ops.webhook_deliveries d
                          where d.workspace_id = platform.workspace_id() and ($1::uuid is null or d.subscription_id = $1)
                            and ($2::uuid is null or d.delivery_id < $2)
                          order by d.delivery_id desc offset $3 limit 1";
            let row = sqlx::query_scalar(query).bind(filter.subscription_id).bind(filter.before).bind(SCAN_MAX - 1);
            row.fetch_optional(tx).await?
        }
    };
    Ok(WebhookDeliveryPage { deliveries, next })
}

/// One attempt at a delivery.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct WebhookAttemptRead {
    pub attempt: i32,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub ts: Time,
    /// `delivered`, `retry`, `dead`, `failed`, `late`, `lease_expired` or `possible_duplicate`.
    pub outcome: String,
    pub status: Option<i32>,
    pub ms: Option<i32>,
    pub answer: Option<String>,
    pub error: Option<String>,
}

/// A delivery with its attempts, oldest first.
pub async fn delivery(
    tx: &mut PgConnection,
    delivery_id: Uuid,
) -> Result<Option<(WebhookDeliveryRead, Vec<WebhookAttemptRead>)>, DbError> {
    let query = "select d.delivery_id, d.subscription_id, s.name as subscription, d.event_id, d.event_type, d.status, d.attempt,
                        d.unknown_outcomes, case when d.status in ('queued', 'retry') then d.next_attempt_at end as next_attempt_at,
                        d.last_status, d.last_ms, d.last_answer, d.last_error, d.resend_of, d.created_at, d.ended_at, d.body
                   from ops.webhook_deliveries d left join core.webhook_subscriptions s using (workspace_id, subscription_id)
                  where d.workspace_id = platform.workspace_id() and d.delivery_id = $1";
    let Some(delivery) = sqlx::query_as(query).bind(delivery_id).fetch_optional(&mut *tx).await? else { return Ok(None) };
    let query = "select attempt, ts, outcome, status, ms, answer, error from ops.webhook_attempts
                  where workspace_id = platform.workspace_id() and delivery_id = $1 order by attempt, ts limit 100";
    let attempts = sqlx::query_as(query).bind(delivery_id).fetch_all(tx).await?;
    Ok(Some((delivery, attempts)))
}
