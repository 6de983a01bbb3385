//! `GET /api/knowledge/documents`: what can be found, and why something cannot.

use axum::response::IntoResponse;
use jiff_sqlx::Timestamp as SqlTimestamp;
use platform::{
    DbError,
    http::{Answer, Ctx, Failure, Page, Query},
};
use serde::Serialize;
use sqlx::FromRow;

use crate::scopes;

#[derive(Debug, FromRow, Serialize, utoipa::ToSchema)]
struct ListedDocument {
    document_id: i64,
    doc_type: String,
    status: String,
    /// Why there is no text, or what is waited for.
    error: Option<String>,
    chat_id: i64,
    chat_title: Option<String>,
    author: Option<String>,
    doc_date: Option<String>,
    token_count: Option<i32>,
    chunks: i64,
    #[schema(value_type = String, format = DateTime)]
    #[serde(serialize_with = "as_text")]
    updated_at: SqlTimestamp,
}

fn as_text<S: serde::Serializer>(at: &SqlTimestamp, to: S) -> Result<S::Ok, S::Error> {
    at.to_jiff().serialize(to)
}

/// List the documents of groups, the newest first. Private ones are their owners', not the workspace's.
#[utoipa::path(get, path = "/api/knowledge/documents", params(Page), responses((status = 200, description = "the documents")))]
pub(super) async fn list_documents(ctx: Ctx, Query(page): Query<Page>) -> Result<impl IntoResponse, Failure> {
    ctx.require(scopes::READ)?;
    let limit = Page::checked(page.limit)?;
    let mut tx = ctx.begin().await?;
    let query = "select d.id as document_id, d.doc_type, d.status, d.error, d.chat_id, c.title as chat_title, d.author, d.doc_date,
                        d.token_count, d.updated_at,
                        (select count(*) from kg.chunks k where (k.workspace_id, k.document_id) = (d.workspace_id, d.id)) as chunks
                   from content.documents d left join tg.chats c using (workspace_id, chat_id)
                  where d.visibility = 'group' order by d.id desc limit $1";
    let rows: Vec<ListedDocument> = sqlx::query_as(query).bind(limit).fetch_all(&mut *tx).await.map_err(DbError::from)?;
    Ok(Answer::ok(rows))
}
