//! Actions of the program itself: what a module of this process does is seen in a chat as what any bot does.

use std::time::Duration;

use kernel::{TraceId, WorkspaceId};
use platform::{Db, DbError, wake::Topic};

use crate::{
    contract::{StartAction, UpdateAction},
    store,
};

/// Says that an action began; again it changes nothing.
pub async fn begin(
    db: &Db,
    workspace: WorkspaceId,
    start: &StartAction,
    processing_max: Duration,
    trace: &TraceId,
) -> Result<(), DbError> {
    let mut tx = db.begin(workspace).await?;
    store::start_action(&mut tx, workspace, start, processing_max, trace).await?;
    tx.commit().await?;
    db.wake().tell(Topic::BUS);
    Ok(())
}

/// Says how it ended.
pub async fn end(db: &Db, workspace: WorkspaceId, update: &UpdateAction, trace: &TraceId) -> Result<(), DbError> {
    let mut tx = db.begin(workspace).await?;
    store::update_action(&mut tx, workspace, update, trace).await?;
    tx.commit().await?;
    db.wake().tell(Topic::BUS);
    Ok(())
}
