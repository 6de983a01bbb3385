//! What happened to posts and channels, newest first.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use kernel::Problem;
use platform::{
    DbError,
    reads::{Time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

/// Everything that can happen, in the words of the table.
pub const ACTIONS: [&str; 25] = [
    "enqueue",
    "validation_failed",
    "send_attempt",
    "sent",
    "retry_scheduled",
    "dedup_suppressed",
    "failed_permanent",
    "dead_letter",
    "channel_paused",
    "channel_disabled",
    "channel_enabled",
    "message_tag_mismatch",
    "sending_lease_expired",
    "claimed_lease_expired",
    "manual_requeue",
    "auth_rotated",
    "ingress_rate_limited",
    "ingress_payload_rejected",
    "ingress_dedup_dropped",
    "possible_duplicate",
    "manual_settle",
    "key_closed",
    "channel_migrated",
    "withdrawn",
    "raw_read",
];
/// What makes up almost every row of a healthy system, and therefore has no index by name.
const COMMON: [&str; 3] = ["enqueue", "send_attempt", "sent"];

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct EventRead {
    pub id: Uuid,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub ts: Time,
    pub action: String,
    /// `ok` or `error`.
    pub result: String,
    pub attempt: i32,
    pub delivery_id: Option<Uuid>,
    pub message_id: Option<Uuid>,
    pub channel_id: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub error: Option<Value>,
    pub payload_ref: Option<String>,
    #[schema(value_type = Object)]
    pub meta: Value,
}

impl EventRead {
    /// The place of this event in the order of all.
    pub fn cursor(&self) -> EventCursor {
        EventCursor { ts: self.ts.to_jiff(), id: self.id }
    }
}

/// A place among the events, which are ordered by time and then by id. Opaque to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCursor {
    ts: Timestamp,
    id: Uuid,
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ts.as_microsecond(), self.id.simple())
    }
}

impl FromStr for EventCursor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let parts = text
            .split_once('-')
            .and_then(|(micros, id)| Some((Timestamp::from_microsecond(micros.parse().ok()?).ok()?, Uuid::try_parse(id).ok()?)));
        let (ts, id) = parts.ok_or_else(|| Problem::validation("before", "`before` is what `next` of the page before said"))?;
        Ok(Self { ts, id })
    }
}

#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    pub action: Option<String>,
    pub result: Option<String>,
    pub channel_id: Option<String>,
    pub delivery_id: Option<Uuid>,
    /// The events of a post are those of its deliveries and those of the post itself.
    pub message_id: Option<Uuid>,
    /// Only events before this one: the last one of the page before.
    pub before: Option<EventCursor>,
    pub limit: i64,
}

const SELECT: &str =
    "select e.id, e.ts, e.action, e.result, e.attempt, e.delivery_id, e.message_id, e.channel_id, e.error, e.payload_ref, e.meta";
const FROM: &str = " from posting.events e where e.workspace_id = platform.workspace_id()";

impl EventFilter {
    /// What all events of the list have in common, the order and the limit. Partial indexes are used only where the
    /// planner can see that they hold every row, so what makes it see is written out.
    fn push(&self, query: &mut QueryBuilder<Postgres>) {
        if let Some(action) = &self.action {
            query.push(" and e.action = ").push_bind(action);
            if !COMMON.contains(&action.as_str()) {
                query.push(" and e.action not in ('enqueue', 'send_attempt', 'sent')");
            }
        }
        match self.result.as_deref() {
            Some("error") => drop(query.push(" and e.result = 'error'")),
            Some(result) => drop(query.push(" and e.result = ").push_bind(result)),
            None => {}
        }
        if let Some(channel_id) = &self.channel_id {
            query.push(" and e.channel_id = ").push_bind(channel_id);
        }
        if let Some(delivery_id) = self.delivery_id {
            // Nothing happens to a delivery before it is made: older partitions are not even opened.
            query.push(" and e.delivery_id = ").push_bind(delivery_id);
            query.push(" and e.ts >= (select coalesce((select d.created_at from posting.deliveries d where d.workspace_id = platform.workspace_id() and d.delivery_id = ");
            query.push_bind(delivery_id).push("), '-infinity'))");
        }
        if let Some(message_id) = self.message_id {
            query.push(" and e.ts >= (select coalesce((select m.created_at from posting.messages m where m.workspace_id = platform.workspace_id() and m.message_id = ");
            query.push_bind(message_id).push("), '-infinity'))");
        }
        if let Some(before) = self.before {
            query.push(" and (e.ts, e.id) < (").push_bind(before.ts.to_sqlx()).push(", ").push_bind(before.id).push(")");
        }
        query.push(" order by e.ts desc, e.id desc limit ").push_bind(self.limit);
    }
}

pub async fn events(tx: &mut PgConnection, filter: &EventFilter) -> Result<Vec<EventRead>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(SELECT);
    if let Some(message_id) = filter.message_id {
        query.push(" from ((select e.*").push(FROM).push(" and e.delivery_id = any (array(select d.delivery_id from posting.deliveries d where d.workspace_id = platform.workspace_id() and d.message_id = ");
        query.push_bind(message_id).push("))");
        filter.push(&mut query);
        query
            .push(") union all (select e.*")
            .push(FROM)
            .push(" and e.delivery_id is null and e.message_id = ")
            .push_bind(message_id);
        filter.push(&mut query);
        query.push(")) e order by e.ts desc, e.id desc limit ").push_bind(filter.limit);
    } else {
        query.push(FROM);
        filter.push(&mut query);
    }
    Ok(query.build_query_as().fetch_all(tx).await?)
}
