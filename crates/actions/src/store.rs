//! One function per SQL function, with its name. Nothing here decides anything.

use std::time::Duration;

use kernel::{TraceId, WorkspaceId};
use platform::DbError;
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor, types::Json};

use crate::contract::{ActionAnswer, ActionList, MessageAnswer, MessageList, NewMessage, StartAction, UpdateAction};

pub(crate) async fn start_action(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    start: &StartAction,
    processing_max: Duration,
    trace_id: &TraceId,
) -> Result<ActionAnswer, DbError> {
    let query = "select actions.start_action($1, $2, $3, $4, $5 * interval '1 second', $6, $7, $8)";
    let Json(answer) = sqlx::query_scalar(query)
        .bind(workspace.uuid())
        .bind(&start.chat_id)
        .bind(&start.action_id)
        .bind(&start.action_type)
        .bind(processing_max.as_secs_f64())
        .bind(&start.display_text)
        .bind(start.payload.clone().map(Value::Object))
        .bind(trace_id.as_str())
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

pub(crate) async fn update_action(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    update: &UpdateAction,
    trace_id: &TraceId,
) -> Result<ActionAnswer, DbError> {
    let Json(answer) = sqlx::query_scalar("select actions.update_action($1, $2, $3, $4, $5, $6, $7, $8)")
        .bind(workspace.uuid())
        .bind(&update.action_id)
        .bind(&update.status)
        .bind(&update.display_text)
        .bind(update.payload.clone().map(Value::Object))
        .bind(&update.chat_id)
        .bind(&update.action_type)
        .bind(trace_id.as_str())
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

pub(crate) async fn read_actions(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    chat_id: &str,
    recent_minutes: Option<u32>,
    limit: i32,
) -> Result<ActionList, DbError> {
    let query = "select actions.read_actions($1, $2, $3 * interval '1 minute', $4)";
    let Json(list) = sqlx::query_scalar(query)
        .bind(workspace.uuid())
        .bind(chat_id)
        .bind(recent_minutes.map(f64::from))
        .bind(limit)
        .fetch_one(tx)
        .await?;
    Ok(list)
}

pub(crate) async fn add_message(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    chat_id: &str,
    message: &NewMessage,
) -> Result<MessageAnswer, DbError> {
    let Json(answer) = sqlx::query_scalar("select actions.add_message($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(chat_id)
        .bind(&message.role)
        .bind(&message.text)
        .bind(&message.message_id)
        .bind(message.metadata.clone().map(Value::Object))
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

/// The page without its `next`.
pub(crate) async fn read_messages(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    chat_id: &str,
    before: Option<i64>,
    limit: i64,
) -> Result<MessageList, DbError> {
    let query = "select actions.read_messages($1, $2, $3, $4::int)";
    let Json(list) =
        sqlx::query_scalar(query).bind(workspace.uuid()).bind(chat_id).bind(before).bind(limit).fetch_one(tx).await?;
    Ok(list)
}

/// Ends what is overdue; how many there were.
pub(crate) async fn expire_overdue(db: impl PgExecutor<'_>, limit: i32) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select actions.expire_overdue($1)").bind(limit).fetch_one(db).await?)
}
