//! Runs the due jobs of one workspace at once, for a caller that waits for them; the runners go on beside it.

use std::{convert::Infallible, time::Duration};

use kernel::WorkspaceId;
use tokio_util::sync::CancellationToken;

use super::{
    Job, JobType, Registry,
    handler::JobHandler,
    runner::{EndedJob, end_until_done, run_one},
    store::{self, Lease},
};
use crate::{
    Db, DbError,
    db::{ANSWER_MAX, within},
};

/// What became of the jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RanNow {
    pub picked: usize,
    pub succeeded: usize,
    pub failed: usize,
}

/// Runs up to `limit` jobs of the types of `registry`, one after the other, also those that they make.
///
/// On a task of its own: a caller that gives up, as a request does at its deadline, leaves the job that runs to come to its end, and none is
/// claimed after it.
pub async fn run_now(
    db: &Db,
    registry: &Registry,
    workspace: WorkspaceId,
    worker_id: &str,
    limit: usize,
) -> Result<RanNow, DbError> {
    let (db, registry, worker_id) = (db.clone(), registry.clone(), worker_id.to_owned());
    let given_up = CancellationToken::new();
    let _waiting = given_up.clone().drop_guard();
    let running = tokio::spawn(async move {
        let names = registry.names();
        let mut ran = RanNow::default();
        while ran.picked < limit && !given_up.is_cancelled() {
            // One at a time: a job that waits for its turn here would only hold up the runners.
            let claimed = store::claim_workspace_jobs(db.pool(), workspace, &worker_id, &names, 1);
            let Some(job) = within(ANSWER_MAX, claimed).await?.into_iter().next() else { break };
            let Some((job_type, handler)) = registry.types.get(&*job.job_type) else { break };
            ran.picked += 1;
            let end = run_held(&db, job_type, handler, job).await;
            match end {
                EndedJob::Succeeded(_) => ran.succeeded += 1,
                _ => ran.failed += 1,
            }
            end_until_done(&db, &[end]).await?;
        }
        Ok(ran)
    });
    running.await.map_err(|_| DbError::Unavailable(sqlx::Error::WorkerCrashed))?
}

/// Runs a job and keeps its lease meanwhile. A database that is away does not stop the handler: whether the lease still holds is asked when the job
/// is ended.
async fn run_held(db: &Db, job_type: &JobType, handler: &JobHandler, job: Job) -> EndedJob {
    let lease = Lease::from(&job);
    let beat = job_type.lease.max(Duration::from_secs(3)) / 3;
    tokio::select! {
        end = run_one(job_type, handler, job, db.clock()) => end,
        never = extend_again_and_again(db, lease, beat) => match never {},
    }
}

async fn extend_again_and_again(db: &Db, lease: Lease, every: Duration) -> Infallible {
    loop {
        tokio::time::sleep(every).await;
        if let Err(error) = within(ANSWER_MAX, store::extend_leases(db.pool(), &[lease])).await {
            tracing::warn!(%error, "jobs.heartbeat");
        }
    }
}
