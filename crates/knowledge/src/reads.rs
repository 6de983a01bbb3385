//! What people and scripts read of documents, chats and transports. Private documents are their owners', not the workspace's: they are counted,
//! and neither listed nor opened.

use jiff_sqlx::Timestamp as SqlTimestamp;
use platform::DbError;
use serde_json::Value;
use sqlx::{FromRow, PgConnection};
use uuid::Uuid;

/// The statuses of documents.
pub const STATUSES: [&str; 3] = ["pending", "done", "error"];
pub const DOC_TYPES: [&str; 3] = ["message", "url", "file"];

/// Which documents are asked for.
#[derive(Clone, Debug, Default)]
pub struct DocumentFilter {
    pub chat_id: Option<i64>,
    pub status: Option<String>,
    pub doc_type: Option<String>,
    /// Documents before this one, the newest first.
    pub before: Option<i64>,
    pub limit: i64,
}

#[derive(Debug, FromRow)]
pub struct DocumentRead {
    pub document_id: i64,
    pub doc_type: String,
    pub status: String,
    /// Why there is no text, or what is waited for.
    pub error: Option<String>,
    pub chat_id: i64,
    pub chat_title: Option<String>,
    pub title: Option<String>,
    pub author: Option<String>,
    pub doc_date: Option<String>,
    pub url: Option<String>,
    pub mime: Option<String>,
    pub bytes: Option<i64>,
    pub language: Option<String>,
    pub token_count: Option<i32>,
    pub chunks: i64,
    /// The first characters of the text.
    pub beginning: Option<String>,
    pub updated_at: SqlTimestamp,
}

macro_rules! document {
    ($text:literal) => {
        concat!(
            "select d.id as document_id, d.doc_type, d.status, d.error, d.chat_id, c.title as chat_title, d.title, d.author,
                    d.doc_date, u.normalized_url as url, d.mime, b.bytes, d.language, d.token_count, ",
            $text,
            " as beginning, d.updated_at,
              (select count(*) from kg.chunks k where (k.workspace_id, k.document_id) = (d.workspace_id, d.id)) as chunks
               from content.documents d
               left join tg.chats c on (c.workspace_id, c.chat_id) = (d.workspace_id, d.chat_id)
               left join content.urls u on (u.workspace_id, u.id) = (d.workspace_id, d.url_id)
               left join content.blob_objects b on (b.workspace_id, b.id) = (d.workspace_id, d.blob_object_id)
              where d.visibility = 'group' "
        )
    };
}

pub async fn documents(tx: &mut PgConnection, filter: &DocumentFilter) -> Result<Vec<DocumentRead>, DbError> {
    let query = concat!(
        document!("left(d.text, 160)"),
        "and ($1::bigint is null or d.chat_id = $1) and ($2::text is null or d.status = $2)
         and ($3::text is null or d.doc_type = $3) and ($4::bigint is null or d.id < $4)
         order by d.id desc limit $5"
    );
    let query = sqlx::query_as(query)
        .bind(filter.chat_id)
        .bind(&filter.status)
        .bind(&filter.doc_type)
        .bind(filter.before)
        .bind(filter.limit);
    Ok(query.fetch_all(tx).await?)
}

/// One document with its text, as far as a page shows it.
pub async fn document(tx: &mut PgConnection, document_id: i64) -> Result<Option<DocumentRead>, DbError> {
    let query = concat!(document!("left(d.text, 100000)"), "and d.id = $1");
    Ok(sqlx::query_as(query).bind(document_id).fetch_optional(tx).await?)
}

#[derive(Debug, FromRow)]
pub struct ArchivedChat {
    pub chat_id: i64,
    pub title: Option<String>,
    pub status: String,
    pub bot_is_here: bool,
    pub members: i64,
    pub documents: i64,
    pub failed: i64,
    pub policy: Value,
}

pub async fn chats(tx: &mut PgConnection) -> Result<Vec<ArchivedChat>, DbError> {
    let query = "select t.chat_id, c.title, t.status, coalesce(c.bot_is_here, false) as bot_is_here,
                        (select count(*) from tg.chat_memberships_current m
                          where (m.workspace_id, m.chat_id, m.is_member) = (t.workspace_id, t.chat_id, true)) as members,
                        (select count(*) from content.documents d
                          where (d.workspace_id, d.chat_id) = (t.workspace_id, t.chat_id)) as documents,
                        (select count(*) from content.documents d
                          where (d.workspace_id, d.chat_id, d.status) = (t.workspace_id, t.chat_id, 'error')) as failed,
                        to_jsonb(knowledge.policy_of(t.workspace_id, t.chat_id)) as policy
                   from core.tenant_chats t left join tg.chats c on (c.workspace_id, c.chat_id) = (t.workspace_id, t.chat_id)
                  order by c.title, t.chat_id";
    Ok(sqlx::query_as(query).fetch_all(tx).await?)
}

#[derive(Debug, FromRow)]
pub struct TransportRead {
    pub bot_id: Uuid,
    pub name: String,
    pub serves: String,
    pub mode: Option<String>,
    pub wanted: Option<String>,
    pub pending: Option<i32>,
    pub failures: Option<i32>,
    pub last_error: Option<String>,
    pub checked_at: Option<SqlTimestamp>,
}

pub async fn transports(tx: &mut PgConnection) -> Result<Vec<TransportRead>, DbError> {
    let query = "select b.bot_id, b.name, b.serves, s.mode, c.mode as wanted, s.pending, s.failures, s.last_error, s.checked_at
                   from core.bots b
                   left join core.bot_transport_state s on (s.workspace_id, s.bot_id) = (b.workspace_id, b.bot_id)
                   left join core.bot_transport_config c on (c.workspace_id, c.bot_id) = (b.workspace_id, b.bot_id)
                  where b.provider = 'telegram' and (b.serves = 'knowledge' or c.mode is not null) order by b.name";
    Ok(sqlx::query_as(query).fetch_all(tx).await?)
}

/// What the watchdog saw and did, the newest first.
#[derive(Debug, FromRow)]
pub struct TransportMoment {
    pub bot: String,
    pub at: SqlTimestamp,
    pub what: String,
    pub pending: Option<i32>,
    pub detail: Option<String>,
}

pub async fn transport_moments(tx: &mut PgConnection, limit: i64) -> Result<Vec<TransportMoment>, DbError> {
    let query = "select b.name as bot, m.at, m.what, m.pending, m.detail from (
                     select s.bot_id, s.ts as at, s.verdict as what, s.pending, s.last_error as detail
                       from ops.webhook_health_snapshots s
                     union all
                     select e.bot_id, e.ts, e.event, (e.details ->> 'pending')::int, e.details ->> 'reason'
                       from ops.bot_transport_events e) m
                   join core.bots b on b.bot_id = m.bot_id order by m.at desc limit $1";
    Ok(sqlx::query_as(query).bind(limit).fetch_all(tx).await?)
}
