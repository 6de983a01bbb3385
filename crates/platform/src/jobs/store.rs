//! One function here for each SQL function of the queue, under the same name.

use std::time::Duration;

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use kernel::{TraceId, WorkspaceId};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor, Row};
use uuid::Uuid;

use super::{Job, JobType};
use crate::DbError;

/// A job to be done.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub job_type: String,
    pub payload: Value,
    /// Not before this time; absent means now.
    pub next_run_at: Option<Timestamp>,
    /// While a job of this type with this key is live, another one is not added.
    pub dedup_key: Option<String>,
}

impl NewJob {
    pub fn new(job_type: impl Into<String>, payload: Value) -> Self {
        Self { job_type: job_type.into(), payload, next_run_at: None, dedup_key: None }
    }

    #[must_use]
    pub fn at(mut self, at: Timestamp) -> Self {
        self.next_run_at = Some(at);
        self
    }

    #[must_use]
    pub fn once(mut self, dedup_key: impl Into<String>) -> Self {
        self.dedup_key = Some(dedup_key.into());
        self
    }
}

/// Adds one job in the caller's transaction. After the commit, call `db.wake().tell(Topic::JOBS)`.
pub async fn enqueue(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    job: NewJob,
    trace: Option<&TraceId>,
) -> Result<i64, DbError> {
    let ids = enqueue_many(tx, workspace, vec![job], trace).await?;
    ids.first().copied().ok_or_else(|| DbError::Bug(sqlx::Error::RowNotFound))
}

/// Adds many jobs with one statement.
pub async fn enqueue_many(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    jobs: Vec<NewJob>,
    trace: Option<&TraceId>,
) -> Result<Vec<i64>, DbError> {
    let mut types = Vec::with_capacity(jobs.len());
    let mut payloads = Vec::with_capacity(jobs.len());
    let mut times = Vec::with_capacity(jobs.len());
    let mut keys = Vec::with_capacity(jobs.len());
    for job in jobs {
        types.push(job.job_type);
        payloads.push(job.payload);
        times.push(job.next_run_at.map(ToSqlx::to_sqlx));
        keys.push(job.dedup_key);
    }
    let ids = sqlx::query_scalar("select ops.enqueue_jobs($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(types)
        .bind(payloads)
        .bind(times)
        .bind(keys)
        .bind(trace.map(TraceId::as_str))
        .fetch_all(tx)
        .await?;
    Ok(ids)
}

pub async fn register_job_type(db: impl PgExecutor<'_>, job_type: &JobType) -> Result<(), DbError> {
    sqlx::query("select ops.register_job_type($1, $2, $3)")
        .bind(job_type.name)
        .bind(i32::try_from(job_type.policy.attempts_max).unwrap_or(i32::MAX))
        .bind(i32::try_from(job_type.lease.as_millis()).unwrap_or(i32::MAX))
        .execute(db)
        .await?;
    Ok(())
}

pub async fn put_schedule(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    name: &str,
    job: NewJob,
    every: Duration,
) -> Result<(), DbError> {
    sqlx::query("select ops.put_schedule($1, $2, $3, $4, make_interval(secs => $5))")
        .bind(workspace.uuid())
        .bind(name)
        .bind(job.job_type)
        .bind(job.payload)
        .bind(every.as_secs_f64())
        .execute(db)
        .await?;
    Ok(())
}

pub async fn fire_schedules(db: impl PgExecutor<'_>) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select ops.fire_schedules()").fetch_one(db).await?)
}

/// How many jobs of a type to claim, and after which one to look.
#[derive(Clone, Copy, Debug)]
pub struct WantedJobs {
    pub job_type: &'static str,
    pub limit: usize,
    pub after: After,
}

/// A place in the order of the jobs of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct After {
    time: Timestamp,
    id: i64,
}

impl After {
    /// Before every job: no job is older than the epoch.
    pub const START: Self = Self { time: Timestamp::UNIX_EPOCH, id: 0 };

    pub fn job(job: &Job) -> Self {
        Self { time: job.next_run_at, id: job.id }
    }
}

pub async fn claim_jobs(db: impl PgExecutor<'_>, worker_id: &str, wanted: &[WantedJobs]) -> Result<Vec<Job>, DbError> {
    let types: Vec<&str> = wanted.iter().map(|wanted| wanted.job_type).collect();
    let limits: Vec<i32> = wanted.iter().map(|wanted| i32::try_from(wanted.limit).unwrap_or(i32::MAX)).collect();
    let times: Vec<jiff_sqlx::Timestamp> = wanted.iter().map(|wanted| wanted.after.time.to_sqlx()).collect();
    let ids: Vec<i64> = wanted.iter().map(|wanted| wanted.after.id).collect();
    let rows = sqlx::query("select * from ops.claim_jobs($1, $2, $3, $4, $5)")
        .bind(worker_id)
        .bind(types)
        .bind(limits)
        .bind(times)
        .bind(ids)
        .fetch_all(db)
        .await?;
    read_jobs(&rows)
}

/// Leases due jobs of one workspace.
pub async fn claim_workspace_jobs(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    worker_id: &str,
    types: &[&'static str],
    limit: i32,
) -> Result<Vec<Job>, DbError> {
    let query = sqlx::query("select * from ops.claim_workspace_jobs($1, $2, $3, $4)");
    let rows = query.bind(workspace.uuid()).bind(worker_id).bind(types).bind(limit).fetch_all(db).await?;
    read_jobs(&rows)
}

fn read_jobs(rows: &[sqlx::postgres::PgRow]) -> Result<Vec<Job>, DbError> {
    rows.iter()
        .map(|row| {
            Ok(Job {
                workspace_id: row.try_get::<Uuid, _>("workspace_id")?.into(),
                id: row.try_get("id")?,
                job_type: row.try_get("job_type")?,
                payload: row.try_get("payload")?,
                trace_id: row.try_get("trace_id")?,
                attempt: u32::try_from(row.try_get::<i32, _>("attempt")?).unwrap_or(0),
                forgiven: u32::try_from(row.try_get::<i32, _>("forgiven")?).unwrap_or(0),
                lease_id: row.try_get("lease_id")?,
                created_at: row.try_get::<jiff_sqlx::Timestamp, _>("created_at")?.to_jiff(),
                next_run_at: row.try_get::<jiff_sqlx::Timestamp, _>("next_run_at")?.to_jiff(),
            })
        })
        .collect::<Result<_, sqlx::Error>>()
        .map_err(DbError::from)
}

/// Takes jobs back from workers that went silent; says how many.
pub async fn expire_leases(db: impl PgExecutor<'_>, types: &[&'static str]) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select ops.expire_leases($1)").bind(types).fetch_one(db).await?)
}

/// Which lease of which job: what every ending has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    pub workspace_id: WorkspaceId,
    pub id: i64,
    pub lease_id: Uuid,
}

impl From<&Job> for Lease {
    fn from(job: &Job) -> Self {
        Self { workspace_id: job.workspace_id, id: job.id, lease_id: job.lease_id }
    }
}

/// Rows are always touched in the order of their keys, so that two batches that share some never wait for each other
/// in a circle.
fn in_order<T: Clone>(items: &[T], lease: impl Fn(&T) -> Lease) -> Vec<T> {
    let mut items = items.to_vec();
    items.sort_by_key(|item| (lease(item).workspace_id, lease(item).id));
    items
}

fn columns(leases: &[Lease]) -> (Vec<Uuid>, Vec<i64>, Vec<Uuid>) {
    let workspaces = leases.iter().map(|lease| lease.workspace_id.uuid()).collect();
    (workspaces, leases.iter().map(|lease| lease.id).collect(), leases.iter().map(|lease| lease.lease_id).collect())
}

/// Ends jobs that succeeded; returns those that still held their lease.
pub async fn complete_jobs(db: impl PgExecutor<'_>, leases: &[Lease]) -> Result<Vec<i64>, DbError> {
    by_lease(db, "select ops.complete_jobs($1, $2, $3)", leases).await
}

/// Gives back jobs that were not started.
pub async fn release_jobs(db: impl PgExecutor<'_>, leases: &[Lease]) -> Result<Vec<i64>, DbError> {
    by_lease(db, "select ops.release_jobs($1, $2, $3)", leases).await
}

/// The heartbeat; returns those that still hold their lease.
pub async fn extend_leases(db: impl PgExecutor<'_>, leases: &[Lease]) -> Result<Vec<i64>, DbError> {
    by_lease(db, "select ops.extend_leases($1, $2, $3)", leases).await
}

async fn by_lease(db: impl PgExecutor<'_>, call: &'static str, leases: &[Lease]) -> Result<Vec<i64>, DbError> {
    let (workspaces, ids, lease_ids) = columns(&in_order(leases, |lease| *lease));
    Ok(sqlx::query_scalar(call).bind(workspaces).bind(ids).bind(lease_ids).fetch_all(db).await?)
}

/// An attempt that failed: its error, and the wait before the next one (absent: there is none).
#[derive(Clone, Debug)]
pub struct JobFailure {
    pub lease: Lease,
    pub error: Value,
    pub retry_in: Option<Duration>,
}

/// Ends attempts that failed; returns those that still held their lease, and whether they are over.
pub async fn fail_jobs(db: impl PgExecutor<'_>, failures: &[JobFailure]) -> Result<Vec<(i64, bool)>, DbError> {
    let failures = in_order(failures, |failure| failure.lease);
    let leases: Vec<Lease> = failures.iter().map(|failure| failure.lease).collect();
    let (workspaces, ids, lease_ids) = columns(&leases);
    let errors: Vec<&Value> = failures.iter().map(|failure| &failure.error).collect();
    let waits: Vec<Option<i64>> =
        failures.iter().map(|failure| failure.retry_in.map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))).collect();
    Ok(sqlx::query_as("select * from ops.fail_jobs($1, $2, $3, $4, $5)")
        .bind(workspaces)
        .bind(ids)
        .bind(lease_ids)
        .bind(errors)
        .bind(waits)
        .fetch_all(db)
        .await?)
}

pub async fn next_due_at(db: impl PgExecutor<'_>, types: &[&'static str]) -> Result<Option<Timestamp>, DbError> {
    let due: Option<jiff_sqlx::Timestamp> = sqlx::query_scalar("select ops.next_due_at($1)").bind(types).fetch_one(db).await?;
    Ok(due.map(jiff_sqlx::Timestamp::to_jiff))
}

/// Asks for a failed job again. Says whether it was there and failed.
pub async fn retry_job(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    id: i64,
    operator: &str,
    reason: &str,
) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar("select ops.retry_job($1, $2, $3, $4)")
        .bind(workspace.uuid())
        .bind(id)
        .bind(operator)
        .bind(reason)
        .fetch_one(db)
        .await?)
}
