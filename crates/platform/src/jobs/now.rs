//! Runs the due jobs of one workspace at once, for a caller that waits for them; the runners go on beside it.

use std::time::Duration;

use kernel::WorkspaceId;

use super::{
    Registry,
    runner::{EndedJob, end_until_done, run_one},
    store::{self, Lease},
};
use crate::{Db, DbError};

/// What became of the jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RanNow {
    pub picked: usize,
    pub succeeded: usize,
    pub failed: usize,
}

/// Runs up to `limit` jobs of the types of `registry`, one after the other, also those that they make.
pub async fn run_now(
    db: &Db,
    registry: &Registry,
    workspace: WorkspaceId,
    worker_id: &str,
    limit: usize,
) -> Result<RanNow, DbError> {
    let names = registry.names();
    let mut ran = RanNow::default();
    while ran.picked < limit {
        // One at a time: a job that waits for its turn here would only hold up the runners.
        let claimed = store::claim_workspace_jobs(db.pool(), workspace, worker_id, &names, 1).await?;
        let Some(job) = claimed.into_iter().next() else { break };
        let Some((job_type, handler)) = registry.types.get(&*job.job_type) else { break };
        ran.picked += 1;
        let lease = Lease::from(&job);
        let work = run_one(job_type, handler, job, db.clock());
        tokio::pin!(work);
        let beat = job_type.lease.max(Duration::from_secs(3)) / 3;
        let end = loop {
            match tokio::time::timeout(beat, &mut work).await {
                Ok(end) => break end,
                Err(_still_running) => drop(store::extend_leases(db.pool(), &[lease]).await?),
            }
        };
        match end {
            EndedJob::Succeeded(_) => ran.succeeded += 1,
            _ => ran.failed += 1,
        }
        end_until_done(db, &[end]).await?;
    }
    Ok(ran)
}
