//! What is forgotten on schedule: rows, media that nobody needs, whole answers of providers. And the audit of the events, which have no
//! foreign keys.

use kernel::WorkspaceId;
use platform::{Db, DbError, objects::Objects, retention::RetentionRule};
use uuid::Uuid;

use crate::media;

pub fn rules(objects: &Objects) -> Vec<RetentionRule> {
    let (of_media, of_raw) = (objects.clone(), objects.clone());
    vec![
        RetentionRule::sql("posting.deliveries", "select posting.forget($1)"),
        RetentionRule::new("posting.media", move |db| forget_media(db, of_media.clone())),
        RetentionRule::new("posting.raw", move |db| forget_raw(db, of_raw.clone())),
        RetentionRule::new("posting.audit", audit),
    ]
}

async fn forget_media(db: Db, objects: Objects) -> Result<(), DbError> {
    let doomed: Vec<(Uuid, String, String)> = sqlx::query_as("select * from posting.doom_media()").fetch_all(db.pool()).await?;
    for (workspace, blob_ref, origin_url) in doomed {
        if let Err(error) = objects.delete(WorkspaceId::from(workspace), media::key(&origin_url)).await {
            // It stays doomed, and the next run tries again.
            tracing::warn!(%error, blob.reference = blob_ref, "retention.delete_object");
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

async fn forget_raw(db: Db, objects: Objects) -> Result<(), DbError> {
    let expired: Vec<(Uuid, String)> = sqlx::query_as("select * from posting.expired_raw()").fetch_all(db.pool()).await?;
    for (workspace, key) in expired {
        if let Err(error) = objects.delete(WorkspaceId::from(workspace), &key).await {
            tracing::warn!(%error, "retention.delete_raw");
        }
    }
    Ok(())
}

async fn audit(db: Db) -> Result<(), DbError> {
    let orphans: i64 = sqlx::query_scalar("select posting.find_orphan_events()").fetch_one(db.pool()).await?;
    if orphans > 0 {
        tracing::error!(orphans, "retention.orphan_events");
    }
    Ok(())
}
