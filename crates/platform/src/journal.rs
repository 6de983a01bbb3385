//! The system's own journal: what it did, written in the transaction that made it true.

use kernel::{TraceId, WorkspaceId, redact};
use serde_json::Value;
use sqlx::PgConnection;

use crate::DbError;

/// One fact for the journal.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub source: &'a str,
    pub action: &'a str,
    pub subject: Option<&'a str>,
    pub trace_id: Option<&'a TraceId>,
    pub data: Value,
}

/// Records a fact, redacted, in the caller's transaction.
pub async fn append(tx: &mut PgConnection, workspace: WorkspaceId, mut entry: Entry<'_>) -> Result<(), DbError> {
    redact::redact_json(&mut entry.data);
    sqlx::query("select ops.append_journal($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(entry.source)
        .bind(entry.action)
        .bind(entry.subject.map(redact::redact_text))
        .bind(entry.trace_id.map(TraceId::as_str))
        .bind(entry.data)
        .execute(tx)
        .await?;
    Ok(())
}

/// An error that somebody may have to look at: WF99's record.
#[derive(Clone, Debug)]
pub struct ErrorRecord<'a> {
    pub source: &'a str,
    pub node: Option<&'a str>,
    pub op: Option<&'a str>,
    pub job_id: Option<i64>,
    pub trace_id: Option<&'a TraceId>,
    pub status_code: Option<u16>,
    pub message: &'a str,
    pub is_retryable: bool,
    pub error: Value,
}

/// Best effort, outside the transaction that failed: recording an error must not make another one.
pub async fn record_error(db: &crate::Db, workspace: WorkspaceId, mut record: ErrorRecord<'_>) {
    redact::redact_json(&mut record.error);
    let written = sqlx::query("select ops.record_error($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
        .bind(workspace.uuid())
        .bind(record.source)
        .bind(record.node)
        .bind(record.op)
        .bind(record.job_id)
        .bind(record.trace_id.map(TraceId::as_str))
        .bind(record.status_code.map(i32::from))
        .bind(redact::snippet(record.message, 2000))
        .bind(record.is_retryable)
        .bind(record.error)
        .execute(db.pool())
        .await;
    if let Err(error) = written {
        tracing::warn!(%error, "journal.record_error");
    }
}
