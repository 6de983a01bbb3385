//! `GET /api/knowledge/documents`: what can be found, and why something cannot; `POST …/{id}/retry`: try it again. `GET /api/knowledge/chats`.

use axum::{Extension, response::IntoResponse};
use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Page, Path, Query};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Knowledge, manage,
    reads::{self, ArchivedChat, DOC_TYPES, DocumentFilter, DocumentRead, STATUSES},
    scopes,
};

const LIMIT_DEFAULT: i64 = 50;

/// Which documents are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DocumentQuery {
    chat_id: Option<i64>,
    /// `pending`, `done` or `error`
    status: Option<String>,
    /// `message`, `url` or `file`
    doc_type: Option<String>,
    /// the documents before this one
    before: Option<i64>,
    limit: Option<i64>,
}

/// List the documents of groups, the newest first. Private ones are their owners', not the workspace's.
#[utoipa::path(get, path = "/api/knowledge/documents", params(DocumentQuery), responses((status = 200, description = "the documents")))]
pub(super) async fn list_documents(ctx: Ctx, Query(asked): Query<DocumentQuery>) -> Result<impl IntoResponse, Failure> {
    ctx.require(scopes::READ)?;
    if asked.status.as_ref().is_some_and(|status| !STATUSES.contains(&status.as_str())) {
        return Err(Problem::validation("status", format!("`status` is one of: {}", STATUSES.join(", "))).into());
    }
    if asked.doc_type.as_ref().is_some_and(|kind| !DOC_TYPES.contains(&kind.as_str())) {
        return Err(Problem::validation("doc_type", format!("`doc_type` is one of: {}", DOC_TYPES.join(", "))).into());
    }
    let limit = Page::checked(asked.limit.unwrap_or(LIMIT_DEFAULT))?;
    let filter =
        DocumentFilter { chat_id: asked.chat_id, status: asked.status, doc_type: asked.doc_type, before: asked.before, limit };
    let mut tx = ctx.begin().await?;
    let rows: Vec<Value> = reads::documents(&mut tx, &filter).await?.iter().map(told).collect();
    Ok(Answer::ok(json!({ "documents": rows })))
}

fn told(document: &DocumentRead) -> Value {
    json!({
        "document_id": document.document_id, "doc_type": document.doc_type, "status": document.status, "error": document.error,
        "chat_id": document.chat_id, "chat_title": document.chat_title, "title": document.title, "author": document.author,
        "doc_date": document.doc_date, "url": document.url, "mime": document.mime, "bytes": document.bytes,
        "language": document.language, "token_count": document.token_count, "chunks": document.chunks,
        "updated_at": document.updated_at.to_jiff(),
    })
}

/// Try a document that has no text once more.
#[utoipa::path(post, path = "/api/knowledge/documents/{id}/retry", params(("id" = i64, Path, description = "the document")),
    responses((status = 200, description = "the job"), (status = 404), (status = 409, description = "it has its text")))]
pub(super) async fn retry_document(
    ctx: Ctx,
    Extension(knowledge): Extension<Knowledge>,
    Path(id): Path<i64>,
) -> Result<impl IntoResponse, Failure> {
    ctx.require(scopes::WRITE)?;
    let trace = ctx.trace_id.to_string();
    let job = manage::retry_document(&knowledge.db, ctx.principal.workspace_id, id, Some(&trace)).await?;
    Ok(Answer::ok(json!({ "document_id": id, "job_id": job })))
}

/// List the registered chats with their policies.
#[utoipa::path(get, path = "/api/knowledge/chats", responses((status = 200, description = "the chats")))]
pub(super) async fn list_chats(ctx: Ctx) -> Result<impl IntoResponse, Failure> {
    ctx.require(scopes::READ)?;
    let mut tx = ctx.begin().await?;
    let rows: Vec<Value> = reads::chats(&mut tx).await?.iter().map(told_chat).collect();
    Ok(Answer::ok(json!({ "chats": rows })))
}

fn told_chat(chat: &ArchivedChat) -> Value {
    let mut policy = chat.policy.clone();
    if let Some(policy) = policy.as_object_mut() {
        policy.retain(|key, _| key.starts_with("allow_") || key.starts_with("retention_"));
    }
    json!({
        "chat_id": chat.chat_id, "title": chat.title, "status": chat.status, "bot_is_here": chat.bot_is_here,
        "members": chat.members, "documents": chat.documents, "unreadable": chat.failed, "policy": policy,
    })
}
