//! What is done on schedule: forgetting what is past its time, deleting media that nobody needs, and looking for events
//! that refer to nothing.

use std::time::Duration;

use kernel::WorkspaceId;
use platform::{
    Db, DbError,
    jobs::{JobError, JobType, NewJob, Registry, store},
    objects::Objects,
};
use serde_json::json;
use uuid::Uuid;

use crate::media;

pub const JOB_TYPE: &str = "posting.upkeep";
const EVERY: Duration = Duration::from_hours(1);
/// Rows that go in one transaction.
const BATCH: i32 = 1000;
/// A run ends after this many batches; the next hour goes on.
const BATCHES_MAX: usize = 500;

pub fn register(registry: &mut Registry, db: &Db, objects: &Objects) {
    let (db, objects) = (db.clone(), objects.clone());
    registry.register(JobType::new(JOB_TYPE).concurrency(1).timeout(Duration::from_mins(30)), move |_job| {
        let (db, objects) = (db.clone(), objects.clone());
        async move { run(&db, &objects).await.map_err(JobError::from) }
    });
}

/// Declares the schedule; to be called once the job type is registered.
pub async fn schedule(db: &Db) -> Result<(), DbError> {
    store::put_schedule(db.pool(), WorkspaceId::SYSTEM, "posting-upkeep", NewJob::new(JOB_TYPE, json!({})), EVERY).await
}

/// Everything once.
pub async fn run(db: &Db, objects: &Objects) -> Result<(), DbError> {
    for _ in 0..BATCHES_MAX {
        let gone: i32 = sqlx::query_scalar("select posting.forget($1)").bind(BATCH).fetch_one(db.pool()).await?;
        if gone == 0 {
            break;
        }
    }
    forget_media(db, objects).await?;
    forget_raw(db, objects).await?;
    let orphans: i64 = sqlx::query_scalar("select posting.find_orphan_events()").fetch_one(db.pool()).await?;
    if orphans > 0 {
        tracing::error!(orphans, "upkeep.orphan_events");
    }
    Ok(())
}

async fn forget_media(db: &Db, objects: &Objects) -> Result<(), DbError> {
    let doomed: Vec<(Uuid, String, String)> = sqlx::query_as("select * from posting.doom_media()").fetch_all(db.pool()).await?;
    for (workspace, blob_ref, origin_url) in doomed {
        if let Err(error) = objects.delete(WorkspaceId::from(workspace), media::key(&origin_url)).await {
            // It stays doomed, and the next run tries again.
            tracing::warn!(%error, blob.reference = blob_ref, "upkeep.delete_object");
            continue;
        }
        sqlx::query("select posting.forget_media($1, $2, $3)")
            .bind(workspace)
            .bind(&blob_ref)
            .bind(&origin_url)
            .execute(db.pool())
            .await?;
    }
    Ok(())
}

async fn forget_raw(db: &Db, objects: &Objects) -> Result<(), DbError> {
    let expired: Vec<(Uuid, String)> = sqlx::query_as("select * from posting.expired_raw()").fetch_all(db.pool()).await?;
    for (workspace, key) in expired {
        if let Err(error) = objects.delete(WorkspaceId::from(workspace), &key).await {
            tracing::warn!(%error, "upkeep.delete_raw");
        }
    }
    Ok(())
}
