//! WF30: an address in its normal form, and the job that fetches it.

use kernel::Problem;
use platform::{DbError, wake::Topic};
use serde_json::{Value, json};

use super::{Request, refused};
use crate::{Knowledge, model::urls};

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let normalized = urls::normalize(request.text("url")?).map_err(|reason| Problem::validation("url", reason.to_string()))?;
    let ctx = request.ctx()?;
    let taken: Result<(i64, Option<i64>), _> = sqlx::query_as("select * from knowledge.take_url($1, $2, $3, $4)")
        .bind(request.workspace.uuid())
        .bind(&normalized)
        .bind(&ctx)
        .bind(request.trace())
        .fetch_one(knowledge.db.pool())
        .await;
    let (url_id, fetch_job_id) = taken.map_err(|error| refused(DbError::from(error)))?;
    knowledge.db.wake().tell(Topic::JOBS);
    Ok(json!({ "url_id": url_id, "normalized_url": normalized, "fetch_job_id": fetch_job_id }))
}
