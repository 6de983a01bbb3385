//! Deliveries, and why each of them waits.

use platform::{
    DbError,
    reads::{Time, maybe_time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use super::{Rows, SCAN_MAX, scan_end};

/// Every status that a delivery can have.
pub const STATUSES: [&str; 8] = ["queued", "claimed", "sending", "retry", "sent", "deduped", "failed_permanent", "dead"];
/// What a delivery can do to its channel.
pub const OPERATIONS: [&str; 3] = ["send", "edit", "delete"];
/// How many deliveries are read with their post; more are found by `message_id`.
pub const OF_MESSAGE_MAX: i64 = 1000;

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct DeliveryRead {
    pub delivery_id: Uuid,
    pub message_id: Uuid,
    pub channel_id: String,
    pub channel_title: Option<String>,
    /// `telegram` or `max`.
    pub platform: String,
    /// `send`, `edit` or `delete`.
    pub operation: String,
    /// The delivery that this one edits or deletes.
    pub of_delivery_id: Option<Uuid>,
    /// `queued`, `claimed`, `sending`, `retry`, `sent`, `deduped`, `failed_permanent` or `dead`.
    pub status: String,
    pub attempt: i32,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub scheduled_for: Option<Time>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_retry_at: Option<Time>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub sending_started_at: Option<Time>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub sent_at: Option<Time>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Time,
    pub provider_message_id: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub last_error: Option<Value>,
    /// The earlier copy on account of which a deduped delivery was not sent.
    pub suppressed_by: Option<String>,
    pub trace_id: Option<String>,
    /// Why it is not sent yet: `reason`, and `until` where that is known. Absent when it has come to its end.
    #[schema(value_type = Option<Object>)]
    pub waiting_for: Option<Value>,
}

/// `d` has to be the table itself, because `waiting_for` takes its row.
const SELECT: &str = "select d.delivery_id, d.message_id, d.channel_id, c.title as channel_title, c.platform, d.operation, d.of_delivery_id, d.status,
           d.attempt, d.created_at, d.scheduled_for, d.next_retry_at, d.sending_started_at, d.sent_at, d.updated_at,
           d.provider_message_id, d.last_error, d.render_meta->>'suppressed_by' as suppressed_by, d.trace_id,
           posting.waiting_for(d) as waiting_for
      from posting.deliveries d join posting.channels c on c.workspace_id = d.workspace_id and c.channel_id = d.channel_id
     where d.workspace_id = platform.workspace_id()";

#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub status: Option<String>,
    pub channel_id: Option<String>,
    pub message_id: Option<Uuid>,
    pub operation: Option<String>,
    /// Only deliveries after this one in the list: `next` of the page before.
    pub before: Option<Uuid>,
    pub limit: i64,
}

impl DeliveryFilter {
    fn push(&self, query: &mut QueryBuilder<Postgres>) {
        if let Some(status) = &self.status {
            query.push(" and d.status = ").push_bind(status);
        }
        if let Some(channel_id) = &self.channel_id {
            query.push(" and d.channel_id = ").push_bind(channel_id);
        }
        if let Some(operation) = &self.operation {
            query.push(" and d.operation = ").push_bind(operation);
        }
    }

    /// The place of `before` in the order of the indexes that begin with the time; its id tells the time if it is gone.
    fn push_place(&self, query: &mut QueryBuilder<Postgres>) {
        if let Some(before) = self.before {
            query.push(" and (d.created_at, d.delivery_id) < ((select coalesce((select b.created_at from posting.deliveries b where b.workspace_id = platform.workspace_id() and b.delivery_id = ");
            query
                .push_bind(before)
                .push("), uuid_extract_timestamp(")
                .push_bind(before)
                .push("))), ")
                .push_bind(before)
                .push(")");
        }
    }
}

/// Deliveries, newest first.
pub async fn deliveries(tx: &mut PgConnection, filter: &DeliveryFilter) -> Result<Rows<DeliveryRead>, DbError> {
    // Each kind of question has its index; only the last one is answered by looking through everything.
    let (ids, is_scan) = match (filter.message_id, filter.status.as_deref()) {
        (Some(message_id), _) => (of_message(filter, message_id), false),
        (None, Some("failed_permanent" | "dead")) => (failed(filter), false),
        (None, Some("queued" | "claimed" | "sending" | "retry")) => (inflight(filter), false),
        _ => (scanned(filter), true),
    };
    let mut ids = ids;
    let ids: Vec<Uuid> = ids.build_query_scalar().fetch_all(&mut *tx).await?;
    let rows = by_ids(tx, &ids).await?;
    let mut page = Rows::full(rows, filter.limit, |row| row.delivery_id);
    if page.next.is_none() && is_scan {
        page.next = scan_end(tx, "posting.deliveries", "delivery_id", filter.before).await?;
    }
    Ok(page)
}

async fn by_ids(tx: &mut PgConnection, ids: &[Uuid]) -> Result<Vec<DeliveryRead>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(SELECT);
    query
        .push(" and d.delivery_id = any (")
        .push_bind(ids)
        .push(") order by array_position(")
        .push_bind(ids)
        .push(", d.delivery_id)");
    Ok(query.build_query_as().fetch_all(tx).await?)
}

fn of_message(filter: &DeliveryFilter, message_id: Uuid) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "select d.delivery_id from posting.deliveries d where d.workspace_id = platform.workspace_id() and d.message_id = ",
    );
    query.push_bind(message_id);
    if let Some(before) = filter.before {
        query.push(" and d.delivery_id < ").push_bind(before);
    }
    filter.push(&mut query);
    query.push(" order by d.delivery_id desc limit ").push_bind(filter.limit);
    query
}

fn failed(filter: &DeliveryFilter) -> QueryBuilder<Postgres> {
    // Written out, so that the planner sees that the partial index holds them all.
    let phase = if filter.status.as_deref() == Some("dead") { "dead" } else { "failed_permanent" };
    let mut query =
        QueryBuilder::new("select d.delivery_id from posting.deliveries d where d.workspace_id = platform.workspace_id()");
    query.push(format_args!(" and d.phase = '{phase}'"));
    filter.push_place(&mut query);
    filter.push(&mut query);
    query.push(" order by d.created_at desc, d.delivery_id desc limit ").push_bind(filter.limit);
    query
}

/// The queue of every channel has its own order; the newest of all are among the newest of each.
fn inflight(filter: &DeliveryFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "select q.delivery_id from posting.channels c cross join lateral (
             select d.created_at, d.delivery_id from posting.deliveries d
              where d.workspace_id = platform.workspace_id() and d.channel_id = c.channel_id and d.phase = 'inflight'",
    );
    filter.push_place(&mut query);
    filter.push(&mut query);
    query.push(" order by d.created_at desc, d.delivery_id desc limit ").push_bind(filter.limit);
    query.push(") q where c.workspace_id = platform.workspace_id()");
    if let Some(channel_id) = &filter.channel_id {
        query.push(" and c.channel_id = ").push_bind(channel_id);
    }
    query.push(" order by q.created_at desc, q.delivery_id desc limit ").push_bind(filter.limit);
    query
}

fn scanned(filter: &DeliveryFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "select d.delivery_id from (select d.delivery_id, d.status, d.channel_id, d.operation from posting.deliveries d
          where d.workspace_id = platform.workspace_id()",
    );
    if let Some(before) = filter.before {
        query.push(" and d.delivery_id < ").push_bind(before);
    }
    query.push(format_args!(" order by d.delivery_id desc limit {SCAN_MAX}) d where true"));
    filter.push(&mut query);
    query.push(" order by d.delivery_id desc limit ").push_bind(filter.limit);
    query
}

pub async fn delivery(tx: &mut PgConnection, delivery_id: Uuid) -> Result<Option<DeliveryRead>, DbError> {
    Ok(by_ids(tx, &[delivery_id]).await?.pop())
}

/// The deliveries of a post by channel, at most [`OF_MESSAGE_MAX`].
pub async fn deliveries_of(tx: &mut PgConnection, message_id: Uuid) -> Result<Vec<DeliveryRead>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(SELECT);
    query.push(" and d.message_id = ").push_bind(message_id);
    query.push(" order by d.channel_id, d.delivery_id limit ").push_bind(OF_MESSAGE_MAX);
    Ok(query.build_query_as().fetch_all(tx).await?)
}

/// What a channel was given lately, newest first: found by its events, since no index has the ended deliveries by channel.
pub async fn recent_deliveries(tx: &mut PgConnection, channel_id: &str, limit: i64) -> Result<Vec<DeliveryRead>, DbError> {
    let ids: Vec<Uuid> = sqlx::query_scalar(
        "select e.delivery_id
           from (select e.delivery_id, e.ts from posting.events e
                  where e.workspace_id = platform.workspace_id() and e.channel_id = $1 and e.delivery_id is not null
                  order by e.ts desc, e.id desc limit $2 * 10) e
          group by e.delivery_id order by max(e.ts) desc, e.delivery_id desc limit $2",
    )
    .bind(channel_id)
    .bind(limit)
    .fetch_all(&mut *tx)
    .await?;
    by_ids(tx, &ids).await
}
