//! What is done on schedule: forgetting what is past its time.

use std::time::Duration;

use kernel::WorkspaceId;
use platform::{
    Db, DbError,
    jobs::{JobError, JobType, NewJob, Registry},
};
use serde_json::json;

use crate::store;

pub const JOB_TYPE: &str = "actions.upkeep";
const EVERY: Duration = Duration::from_hours(1);
/// Rows that go in one transaction.
const BATCH: i32 = 1000;
/// A run ends after this many batches; the next hour goes on.
const BATCHES_MAX: usize = 2000;

pub fn register(registry: &mut Registry, db: &Db) {
    let db = db.clone();
    registry.register(JobType::new(JOB_TYPE).concurrency(1).timeout(Duration::from_mins(30)), move |_job| {
        let db = db.clone();
        async move { run(&db).await.map_err(JobError::from) }
    });
}

/// Declares the schedule; to be called once the job type is registered.
pub async fn schedule(db: &Db) -> Result<(), DbError> {
    let job = NewJob::new(JOB_TYPE, json!({}));
    platform::jobs::store::put_schedule(db.pool(), WorkspaceId::SYSTEM, "actions-upkeep", job, EVERY).await
}

/// Everything once.
pub async fn run(db: &Db) -> Result<(), DbError> {
    for _ in 0..BATCHES_MAX {
        if store::forget(db.pool(), BATCH).await? == 0 {
            break;
        }
    }
    Ok(())
}
