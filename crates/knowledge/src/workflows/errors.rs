//! WF99: one handler for errors of workflows: the error envelope, a row of `ops.errors`, and the failure of the job if one is named.

use kernel::{Kind, Problem, WorkspaceId, redact};
use platform::DbError;
use serde_json::{Value, json};

use super::number;
use crate::{Knowledge, store};

const MESSAGE_CHARS_MAX: usize = 500;

/// The problem that the envelope shows. It is answered also when nothing could be recorded.
pub async fn handle(knowledge: &Knowledge, workspace: WorkspaceId, input: &Value) -> Problem {
    let status = number(&input["statusCode"]).flatten().and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| (400..=599).contains(status)).unwrap_or(500);
    let message = input["errorMessage"].as_str().filter(|text| !text.is_empty()).unwrap_or("the workflow failed");
    let message = redact::snippet(&message.replace('\0', "\u{fffd}"), MESSAGE_CHARS_MAX);
    let (kind, is_retryable) = match status {
        401 | 403 => (Kind::Auth, false),
        429 => (Kind::RateLimit, true),
        408 | 502..=504 => (Kind::Upstream, true),
        _ => (Kind::Unknown, false),
    };
    let mut problem = Problem::new(status, kind, "workflow.failed", message.clone());
    problem.retryable = is_retryable;
    let ctx = &input["ctx"];
    for field in ["workflow", "node", "op", "job_id"] {
        if !ctx[field].is_null() {
            problem = problem.with(field, ctx[field].clone());
        }
    }
    if let Err(error) = record(knowledge, workspace, input, &problem).await {
        tracing::warn!(%error, "knowledge.error_not_recorded");
    }
    problem
}

async fn record(knowledge: &Knowledge, workspace: WorkspaceId, input: &Value, problem: &Problem) -> Result<(), DbError> {
    let ctx = &input["ctx"];
    let short = |field: &str| ctx[field].as_str().map(|text| redact::snippet(text, 100));
    let details = redact::snippet(&input["error"].to_string(), 2000);
    let job_id = number(&ctx["job_id"]).flatten();
    sqlx::query("select ops.record_error($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
        .bind(workspace.uuid())
        .bind(short("workflow").unwrap_or_else(|| "knowledge".to_owned()))
        .bind(short("node"))
        .bind(short("op"))
        .bind(job_id)
        .bind(short("trace_id"))
        .bind(i32::from(problem.status))
        .bind(&problem.message)
        .bind(problem.retryable)
        .bind(json!({ "details": details }))
        .execute(knowledge.db.pool())
        .await?;
    if let Some(job_id) = job_id {
        let error = json!({ "code": "workflow.failed", "message": problem.message });
        store::fail_job(&knowledge.db, workspace, job_id, &error).await?;
    }
    Ok(())
}
