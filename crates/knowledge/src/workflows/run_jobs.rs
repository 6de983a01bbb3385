//! WF90: runs the due jobs of the workspace now.

use kernel::Problem;
use platform::jobs::run_now;
use serde_json::{Value, json};

use super::Request;
use crate::{Knowledge, jobs};

const LIMIT_DEFAULT: i64 = 50;
const LIMIT_MAX: i64 = 1000;

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let limit = request.optional_number("limit")?.unwrap_or(LIMIT_DEFAULT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::validation("limit", format!("`limit` is a number from 1 to {LIMIT_MAX}")));
    }
    let worker = request.req["worker_id"].as_str().unwrap_or("WF90");
    if worker.is_empty() || worker.chars().count() > 100 {
        return Err(Problem::validation("worker_id", "`worker_id` has 1 to 100 characters"));
    }
    let limit = usize::try_from(limit).unwrap_or_default();
    let ran = run_now(&knowledge.db, &jobs::registry(knowledge), request.workspace, worker, limit).await?;
    Ok(json!({ "picked": ran.picked, "succeeded": ran.succeeded, "failed": ran.failed }))
}
