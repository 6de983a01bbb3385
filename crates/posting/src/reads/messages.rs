//! Posts, and where their copies stand.

use platform::{
    DbError,
    reads::{Time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use super::{Rows, SCAN_MAX, scan_end};

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct MessageRead {
    pub message_id: Uuid,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// The beginning of the text, at most 500 characters.
    pub text: Option<String>,
    /// `HTML`, `Markdown`, or absent for plain text.
    pub parse_mode: Option<String>,
    pub media_count: i32,
    pub tags: Vec<String>,
    #[schema(value_type = Option<Object>)]
    pub source: Option<Value>,
    pub source_ref: Option<String>,
    pub trace_id: Option<String>,
    /// How often this content has come in.
    pub seen_count: i64,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub last_seen_at: Time,
    /// The post that this one edits or deletes.
    pub of_message_id: Option<Uuid>,
    /// `send`, `edit` or `delete`; absent when it went nowhere.
    pub operation: Option<String>,
    /// How many deliveries there are of each status.
    #[schema(value_type = Object)]
    pub deliveries: Value,
    /// How many of the failed ones were withdrawn, because the post was deleted before they were sent.
    pub withdrawn: i64,
}

const COLUMNS: &str = "m.message_id, m.created_at, left(m.payload->>'text', 500) as text, m.payload->>'parse_mode' as parse_mode,
    case jsonb_typeof(m.payload->'media') when 'array' then jsonb_array_length(m.payload->'media') else 0 end as media_count,
    m.tags, m.source, m.source_ref, m.first_seen_trace_id as trace_id, m.seen_count, m.last_seen_at, m.of_message_id,
    (select d.operation from posting.deliveries d
      where d.message_id = m.message_id and d.workspace_id = m.workspace_id limit 1) as operation,
    (select coalesce(jsonb_object_agg(t.status, t.n), '{}')
       from (select c.status, count(*) as n
               from (select d.status from posting.deliveries d
                      where d.message_id = m.message_id and d.workspace_id = m.workspace_id limit 10000) c
              group by c.status) t) as deliveries,
    (select count(*) from (select from posting.deliveries d
                            where d.message_id = m.message_id and d.workspace_id = m.workspace_id and d.phase = 'failed_permanent'
                              and d.last_error->>'code' = 'withdrawn' limit 10000) c) as withdrawn";

#[derive(Clone, Debug, Default)]
pub struct MessageFilter {
    pub tag: Option<String>,
    pub source_ref: Option<String>,
    /// Only posts with a smaller id: `next` of the page before.
    pub before: Option<Uuid>,
    pub limit: i64,
}

/// Posts, newest first. What edits or deletes a post is read with that post, not here.
pub async fn messages(tx: &mut PgConnection, filter: &MessageFilter) -> Result<Rows<MessageRead>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(format!(
        "select {COLUMNS} from (select m.* from posting.messages m where m.workspace_id = platform.workspace_id()"
    ));
    if let Some(before) = filter.before {
        query.push(" and m.message_id < ").push_bind(before);
    }
    query.push(format_args!(" order by m.message_id desc limit {SCAN_MAX}) m where m.of_message_id is null"));
    if let Some(tag) = &filter.tag {
        query.push(" and m.tags @> array[").push_bind(tag).push("]");
    }
    if let Some(source_ref) = &filter.source_ref {
        query.push(" and m.source_ref = ").push_bind(source_ref);
    }
    query.push(" order by m.message_id desc limit ").push_bind(filter.limit);
    let rows = query.build_query_as().fetch_all(&mut *tx).await?;
    let mut page = Rows::full(rows, filter.limit, |row: &MessageRead| row.message_id);
    if page.next.is_none() {
        page.next = scan_end(tx, "posting.messages", "message_id", filter.before).await?;
    }
    Ok(page)
}

/// One post with its whole content.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct MessageWhole {
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub message: MessageRead,
    /// Text, media, links and buttons in their normal form.
    #[schema(value_type = Object)]
    pub payload: Value,
}

pub async fn message(tx: &mut PgConnection, message_id: Uuid) -> Result<Option<MessageWhole>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(format!("select {COLUMNS}, m.payload from posting.messages m"));
    query.push(" where m.workspace_id = platform.workspace_id() and m.message_id = ").push_bind(message_id);
    Ok(query.build_query_as().fetch_optional(tx).await?)
}

/// The edits and deletions of a post, newest first, at most 100.
pub async fn following(tx: &mut PgConnection, message_id: Uuid) -> Result<Vec<MessageRead>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(format!("select {COLUMNS} from posting.messages m"));
    query.push(" where m.workspace_id = platform.workspace_id() and m.of_message_id = ").push_bind(message_id);
    query.push(" order by m.message_id desc limit 100");
    Ok(query.build_query_as().fetch_all(tx).await?)
}

/// These posts, in no order.
pub async fn messages_by_ids(tx: &mut PgConnection, ids: &[Uuid]) -> Result<Vec<MessageRead>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(format!("select {COLUMNS} from posting.messages m"));
    query.push(" where m.workspace_id = platform.workspace_id() and m.message_id = any (").push_bind(ids).push(")");
    Ok(query.build_query_as().fetch_all(tx).await?)
}
