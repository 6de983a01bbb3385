//! The recurring job of the platform itself: partitions made ahead and dropped when their time is over.

use std::time::Duration;

use kernel::WorkspaceId;
use serde_json::json;

use crate::{
    Db, DbError,
    jobs::{JobError, JobType, NewJob, Registry, store},
    journal::{self, Entry},
};

pub const JOB_TYPE: &str = "platform.upkeep";
const EVERY: Duration = Duration::from_hours(1);

pub fn register(registry: &mut Registry, db: &Db) {
    let db = db.clone();
    registry.register(JobType::new(JOB_TYPE).concurrency(1), move |_job| {
        let db = db.clone();
        async move { run(&db).await.map_err(JobError::from) }
    });
}

/// Declares the schedule; to be called once the job type is registered.
pub async fn schedule(db: &Db) -> Result<(), DbError> {
    store::put_schedule(db.pool(), WorkspaceId::SYSTEM, "upkeep", NewJob::new(JOB_TYPE, json!({})), EVERY).await
}

async fn run(db: &Db) -> Result<(), DbError> {
    let mut tx = db.begin_system().await?;
    let changed: Vec<(String, String)> =
        sqlx::query_as("select partition_name, what from platform.upkeep_journals()").fetch_all(&mut *tx).await?;
    for (name, what) in changed {
        let entry = Entry {
            source: "platform",
            action: if what == "made" { "partition_made" } else { "partition_dropped" },
            subject: Some(&name),
            trace_id: None,
            data: json!({}),
        };
        journal::append(&mut tx, WorkspaceId::SYSTEM, entry).await?;
    }
    Ok(tx.commit().await?)
}
