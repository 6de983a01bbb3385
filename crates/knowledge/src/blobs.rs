//! Bytes on their way into object storage. An object is named as garbage before it is written, and stops to be garbage in the transaction
//! that makes its blob: a crash in between leaves nothing that is not removed.

use bytes::Bytes;
use kernel::{Problem, WorkspaceId, new_id};
use platform::{DbError, failpoint, wake::Topic};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Knowledge;

/// An object that was written, and has no blob yet.
#[derive(Clone, Debug)]
pub(crate) struct StoredBytes {
    pub(crate) bytes: usize,
    sha256: String,
    mime: Option<String>,
    object_key: String,
}

impl StoredBytes {
    pub(crate) async fn put(
        knowledge: &Knowledge,
        workspace: WorkspaceId,
        body: Bytes,
        mime: Option<&str>,
    ) -> Result<Self, Problem> {
        // Never the same name twice: the object of a blob that is being removed has another one.
        let object_key = format!("knowledge/{}", new_id());
        sqlx::query("insert into content.object_garbage (workspace_id, object_key) values ($1, $2)")
            .bind(workspace.uuid())
            .bind(&object_key)
            .execute(knowledge.db.pool())
            .await
            .map_err(DbError::from)?;
        let stored = Self {
            bytes: body.len(),
            sha256: hex::encode(Sha256::digest(&body)),
            mime: mime.map(|mime| mime.chars().take(200).collect()),
            object_key,
        };
        knowledge.objects.put(workspace, &stored.object_key, body).await?;
        failpoint::hit("knowledge.object_stored");
        Ok(stored)
    }

    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// As `knowledge.put_blob` takes it.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "sha256": self.sha256, "bytes": self.bytes, "mime": self.mime, "object_key": self.object_key })
    }
}

/// Drops an object whose page or file went while it was written. After any other failure nobody knows whether it has its blob: then
/// it stays named as garbage, or is none.
pub(crate) async fn settle(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    stored: Option<&StoredBytes>,
    refusal: Option<&Problem>,
) -> Result<(), DbError> {
    let (Some(stored), Some(Problem { status: 404, .. })) = (stored, refusal) else { return Ok(()) };
    let query = "with dropped as (
                     update content.object_garbage set is_dropped = true where (workspace_id, object_key) = ($1, $2) returning 1)
                 select ops.enqueue_job($1, 'knowledge.remove_objects', '{}', null, 'remove_objects') from dropped";
    sqlx::query(query).bind(workspace.uuid()).bind(&stored.object_key).execute(knowledge.db.pool()).await?;
    knowledge.db.wake().tell(Topic::JOBS);
    Ok(())
}
