//! One function here for each SQL function, under the same name; what it guarantees is in its file.

use kernel::WorkspaceId;
use platform::{Db, DbError};
use serde_json::Value;
use sqlx::FromRow;
use uuid::Uuid;

#[derive(Clone, Copy, Debug, FromRow)]
pub(crate) struct TakenUpdate {
    pub(crate) job_id: Option<i64>,
    pub(crate) is_new: bool,
}

/// What came: JSON, or bytes that cannot be read, with the reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawUpdate<'a> {
    pub(crate) update_id: Option<i64>,
    pub(crate) chat_id: Option<i64>,
    pub(crate) body: Option<&'a Value>,
    pub(crate) unread: Option<&'a [u8]>,
    pub(crate) problem: Option<&'a str>,
}

pub(crate) async fn take_update(
    db: &Db,
    workspace: WorkspaceId,
    bot_id: Uuid,
    update: RawUpdate<'_>,
    trace: &str,
) -> Result<TakenUpdate, DbError> {
    let query = sqlx::query_as("select * from knowledge.take_update($1, $2, $3, $4, $5, $6, $7, $8)")
        .bind(workspace.uuid())
        .bind(bot_id)
        .bind(update.update_id)
        .bind(update.chat_id)
        .bind(update.body)
        .bind(update.unread)
        .bind(update.problem)
        .bind(trace);
    Ok(query.fetch_one(db.pool()).await?)
}

pub(crate) async fn store_facts(
    db: &Db,
    workspace: WorkspaceId,
    bot_id: Uuid,
    facts: &Value,
    payload: &Value,
    trace: Option<&str>,
) -> Result<Value, DbError> {
    let query = sqlx::query_scalar("select knowledge.store_facts($1, $2, $3, $4, $5)")
        .bind(workspace.uuid())
        .bind(bot_id)
        .bind(facts)
        .bind(payload)
        .bind(trace);
    Ok(query.fetch_one(db.pool()).await?)
}

pub(crate) async fn end_update(
    db: &Db,
    workspace: WorkspaceId,
    raw_id: i64,
    problem: Option<&str>,
    is_forgotten: bool,
) -> Result<(), DbError> {
    let query = sqlx::query("select knowledge.end_update($1, $2, $3, $4)");
    query.bind(workspace.uuid()).bind(raw_id).bind(problem).bind(is_forgotten).execute(db.pool()).await?;
    Ok(())
}

pub(crate) async fn load_context(
    db: &Db,
    workspace: WorkspaceId,
    user_id: i64,
    chat_id: Option<i64>,
    channel: &str,
) -> Result<Value, DbError> {
    let query = sqlx::query_scalar("select knowledge.load_context($1, $2, $3, $4)");
    Ok(query.bind(workspace.uuid()).bind(user_id).bind(chat_id).bind(channel).fetch_one(db.pool()).await?)
}

/// The chunks of one version of a document.
#[derive(Clone, Debug)]
pub(crate) struct CutText {
    pub(crate) version: i32,
    /// The line of the document's facts that is indexed with each of them.
    pub(crate) context: String,
    pub(crate) token_count: i32,
    pub(crate) chunks: Value,
}

/// Nothing: the text is another one by now.
pub(crate) async fn store_chunks(
    db: &Db,
    workspace: WorkspaceId,
    document_id: i64,
    cut: &CutText,
    trace: Option<&str>,
) -> Result<Option<i32>, DbError> {
    let query = sqlx::query_scalar("select knowledge.store_chunks($1, $2, $3, $4, $5, $6, $7)")
        .bind(workspace.uuid())
        .bind(document_id)
        .bind(cut.version)
        .bind(&cut.context)
        .bind(cut.token_count)
        .bind(&cut.chunks)
        .bind(trace);
    Ok(query.fetch_one(db.pool()).await?)
}

pub(crate) async fn prune(db: &Db, workspace: WorkspaceId, chat_id: i64, limit: i32) -> Result<Value, DbError> {
    let query = sqlx::query_scalar("select knowledge.prune($1, $2, $3)");
    Ok(query.bind(workspace.uuid()).bind(chat_id).bind(limit).fetch_one(db.pool()).await?)
}

pub(crate) async fn fail_job(db: &Db, workspace: WorkspaceId, job_id: i64, error: &Value) -> Result<bool, DbError> {
    let query = sqlx::query_scalar("select knowledge.fail_job($1, $2, $3)");
    Ok(query.bind(workspace.uuid()).bind(job_id).bind(error).fetch_one(db.pool()).await?)
}

/// What is to be forgotten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forgetting {
    pub(crate) kind: &'static str,
    pub(crate) chat_id: Option<i64>,
    pub(crate) message_id: Option<i32>,
    pub(crate) tg_user_id: Option<i64>,
}

pub(crate) async fn forget(db: &Db, workspace: WorkspaceId, what: Forgetting, asked_by: &str) -> Result<Value, DbError> {
    let query = sqlx::query_scalar("select knowledge.forget($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(what.kind)
        .bind(what.chat_id)
        .bind(what.message_id)
        .bind(what.tg_user_id)
        .bind(asked_by);
    Ok(query.fetch_one(db.pool()).await?)
}
