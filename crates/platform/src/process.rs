//! A process says that it lives, so that people can see which roles are taken.

use std::time::Duration;

use futures::TryFutureExt;
use kernel::WorkspaceId;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    Db, DbError,
    db::{ANSWER_MAX, within},
};

const EVERY: Duration = Duration::from_secs(30);
/// A stop waits no longer for the list: a process that has not reported itself for some minutes is taken off it too.
const LEAVE_MAX: Duration = Duration::from_secs(10);

/// Reports this process until told to stop, and then takes it off the list.
pub async fn report(db: Db, roles: Vec<&'static str>, version: &'static str, stop: CancellationToken) {
    let process_id = Uuid::new_v4();
    let place = format!("pid {}", std::process::id());
    while !stop.is_cancelled() {
        let query = sqlx::query("select ops.report_process($1, $2, $3, $4)");
        let report = query.bind(process_id).bind(&roles).bind(&place).bind(version).execute(db.pool());
        let reported = tokio::select! {
            reported = within(ANSWER_MAX, report.map_err(DbError::from)) => reported,
            () = stop.cancelled() => break,
        };
        if let Err(error) = reported {
            tracing::debug!(%error, "process.report");
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
    let query = "with gone as (delete from ops.processes where process_id = $1 returning process_id)
                 select bus.publish($2, 'processes', '{}') from gone";
    let leave = sqlx::query(query).bind(process_id).bind(WorkspaceId::SYSTEM.uuid()).execute(db.pool());
    let _ = within(LEAVE_MAX, leave.map_err(DbError::from)).await;
}
