//! One function per SQL function, with its name. Nothing here decides anything.

use std::time::Duration;

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use kernel::WorkspaceId;
use platform::{DbError, door::BotUpdate};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

/// Takes a message from receipt to answer, in a transaction of its own; see the SQL of `handle_message` for what comes back.
pub(crate) async fn take_message(db: impl PgExecutor<'_>, update: &BotUpdate, message: &Value) -> Result<Value, DbError> {
    let query = sqlx::query_scalar("select shopbot.take_message($1, $2, $3, $4, $5)")
        .bind(update.workspace.uuid())
        .bind(update.provider)
        .bind(message)
        .bind(update.trace.as_str())
        .bind(update.bot_id);
    Ok(query.fetch_one(db).await?)
}

/// What the bot would make of a message, with a state that the caller keeps.
pub(crate) async fn try_message(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    provider: &str,
    state: &Value,
    message: &Value,
    now: Timestamp,
) -> Result<Value, DbError> {
    let query = "select shopbot.try_message($1, $2, $3, $4, $5)";
    let row = sqlx::query_scalar(query).bind(workspace.uuid()).bind(provider).bind(state).bind(message).bind(now.to_sqlx());
    Ok(row.fetch_one(db).await?)
}

/// An update that is kept because it could not be handled.
#[derive(Debug)]
pub(crate) struct Poison<'a> {
    pub(crate) problem: &'a str,
    pub(crate) body_hash: &'a str,
    pub(crate) body: &'a str,
}

/// How often it was seen by now.
pub(crate) async fn keep_poison(db: impl PgExecutor<'_>, update: &BotUpdate, poison: &Poison<'_>) -> Result<i64, DbError> {
    let row = sqlx::query_scalar("select shopbot.keep_poison($1, $2, $3, $4, $5, $6, $7)")
        .bind(update.workspace.uuid())
        .bind(update.provider)
        .bind(update.endpoint_id)
        .bind(poison.problem)
        .bind(poison.body_hash)
        .bind(poison.body)
        .bind(update.bot_id);
    Ok(row.fetch_one(db).await?)
}

/// An answer that is being sent, with everything an adapter needs.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SendingAnswer {
    pub(crate) workspace_id: Uuid,
    pub(crate) answer_id: Uuid,
    pub(crate) provider: String,
    pub(crate) chat_id: String,
    pub(crate) inbound_kind: String,
    pub(crate) inbound_provider_message_id: String,
    pub(crate) text: String,
    pub(crate) buttons: Value,
    pub(crate) secret_ref: String,
    pub(crate) attempt: i32,
    pub(crate) claim_token: String,
    pub(crate) idempotency_key: String,
    pub(crate) trace_id: Option<String>,
}

/// The workspaces with an answer to send, without those that are known.
pub(crate) async fn due_workspaces(db: impl PgExecutor<'_>, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
    let known: Vec<Uuid> = known.iter().map(|workspace| workspace.uuid()).collect();
    let ids: Vec<Uuid> = sqlx::query_scalar("select shopbot.due_workspaces($1)").bind(known).fetch_all(db).await?;
    Ok(ids.into_iter().map(WorkspaceId::from).collect())
}

pub(crate) async fn claim_answers(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    run_id: &str,
    limit: i32,
    lease: Duration,
) -> Result<Vec<SendingAnswer>, DbError> {
    let query = "select * from shopbot.claim_answers($1, $2, $3 * interval '1 second', $4)";
    let rows = sqlx::query_as(query).bind(run_id).bind(limit).bind(lease.as_secs_f64()).bind(workspace.uuid());
    Ok(rows.fetch_all(db).await?)
}

pub(crate) async fn still_held(db: impl PgExecutor<'_>, sending: &SendingAnswer) -> Result<bool, DbError> {
    let query = "select shopbot.still_held($1, $2, $3)";
    let row = sqlx::query_scalar(query).bind(sending.workspace_id).bind(sending.answer_id).bind(&sending.claim_token);
    Ok(row.fetch_one(db).await?)
}

/// A success, on its way into the database.
#[derive(Clone, Debug)]
pub(crate) struct SentAnswer {
    pub(crate) workspace_id: Uuid,
    pub(crate) answer_id: Uuid,
    pub(crate) claim_token: String,
    pub(crate) provider_message_id: String,
    pub(crate) sent_at: Timestamp,
}

/// Says of each success what became of it: `sent`, `late`, `repeated`, `possible_duplicate` or `unknown`.
pub(crate) async fn mark_answers_sent(db: impl PgExecutor<'_>, successes: &[SentAnswer]) -> Result<Vec<(Uuid, String)>, DbError> {
    let query = "select answer_id, outcome from shopbot.mark_answers_sent($1, $2, $3, $4, $5)";
    let rows = sqlx::query_as(query)
        .bind(successes.iter().map(|success| success.workspace_id).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| success.answer_id).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| success.claim_token.clone()).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| success.provider_message_id.clone()).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| success.sent_at.to_sqlx()).collect::<Vec<_>>())
        .fetch_all(db)
        .await?;
    Ok(rows)
}

/// Returns `retry`, `dead`, or `lost` when the claim no longer holds.
pub(crate) async fn retry_answer(db: impl PgExecutor<'_>, sending: &SendingAnswer, error: &Value) -> Result<String, DbError> {
    end(db, "select shopbot.retry_answer($1, $2, $3, $4)", sending, error).await
}

/// Returns `failed`, `retry`, `dead`, or `lost` when the claim no longer holds.
pub(crate) async fn fail_answer(db: impl PgExecutor<'_>, sending: &SendingAnswer, error: &Value) -> Result<String, DbError> {
    end(db, "select shopbot.fail_answer($1, $2, $3, $4)", sending, error).await
}

async fn end(db: impl PgExecutor<'_>, query: &'static str, sending: &SendingAnswer, error: &Value) -> Result<String, DbError> {
    let row = sqlx::query_scalar(query).bind(sending.workspace_id).bind(sending.answer_id).bind(&sending.claim_token).bind(error);
    Ok(row.fetch_one(db).await?)
}

/// Gives back what dead or stopped senders hold; how many answers that were.
pub(crate) async fn expire_answer_leases(db: impl PgExecutor<'_>) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select shopbot.expire_answer_leases()").fetch_one(db).await?)
}

/// When there may be something to claim.
pub(crate) async fn next_answer_at(db: impl PgExecutor<'_>, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
    let query = "select shopbot.next_answer_at($1)";
    let at: Option<SqlTimestamp> = sqlx::query_scalar(query).bind(workspace.uuid()).fetch_one(db).await?;
    Ok(at.map(SqlTimestamp::to_jiff))
}

/// Returns `[{rule_id, version}]`.
pub(crate) async fn save_rules(tx: &mut PgConnection, workspace: WorkspaceId, rules: &Value, by: &str) -> Result<Value, DbError> {
    let query = "select shopbot.save_rules($1, $2, $3)";
    Ok(sqlx::query_scalar(query).bind(workspace.uuid()).bind(rules).bind(by).fetch_one(tx).await?)
}

pub(crate) async fn enable_rule(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    rule_id: &str,
    version: Option<i32>,
    by: &str,
) -> Result<(), DbError> {
    sqlx::query("select shopbot.enable_rule($1, $2, $3, $4)")
        .bind(workspace.uuid())
        .bind(rule_id)
        .bind(version)
        .bind(by)
        .execute(tx)
        .await?;
    Ok(())
}
