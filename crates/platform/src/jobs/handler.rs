//! What a module registers: a type of job, its limits, and the code that runs it.

use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use jiff::Timestamp;
use kernel::{RetryPolicy, WorkspaceId};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

/// A job in the hands of a worker.
#[derive(Clone, Debug)]
pub struct Job {
    pub workspace_id: WorkspaceId,
    pub id: i64,
    pub job_type: String,
    pub payload: Value,
    pub trace_id: Option<String>,
    /// 1 for the first.
    pub attempt: u32,
    /// How many attempts were made before an operator asked for the job again.
    pub forgiven: u32,
    /// The fencing token: only this lease can end the attempt.
    pub lease_id: Uuid,
    pub created_at: Timestamp,
    pub next_run_at: Timestamp,
}

impl Job {
    /// The payload as the handler expects it. What cannot be read now cannot be read later: no retry.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        serde_json::from_value(self.payload.clone())
            .map_err(|error| JobError::fail(format!("the payload of this job cannot be read: {error}")))
    }
}

/// How an attempt failed, and whether another one makes sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    pub message: String,
    pub is_final: bool,
    pub retry_after: Option<Duration>,
}

impl JobError {
    /// May succeed later.
    pub fn retry(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_final: false, retry_after: None }
    }

    /// May succeed later, but not before this time: the provider said so.
    pub fn retry_after(message: impl Into<String>, after: Duration) -> Self {
        Self { message: message.into(), is_final: false, retry_after: Some(after) }
    }

    /// Never will.
    pub fn fail(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_final: true, retry_after: None }
    }
}

impl From<crate::DbError> for JobError {
    fn from(error: crate::DbError) -> Self {
        Self::retry(error.to_string())
    }
}

/// A type of job and its limits.
#[derive(Clone, Debug)]
pub struct JobType {
    pub name: &'static str,
    pub policy: RetryPolicy,
    /// How long a silent worker keeps the job. A living one extends it.
    pub lease: Duration,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How many of this type run at once in one process.
    pub concurrency: usize,
}

impl JobType {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            policy: RetryPolicy::jobs(),
            lease: Duration::from_mins(1),
            timeout: Duration::from_mins(10),
            concurrency: 16,
        }
    }

    #[must_use]
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency;
        self
    }

    #[must_use]
    pub fn policy(mut self, policy: RetryPolicy) -> Self {
        self.policy = policy;
        self
    }

    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

pub(super) type JobHandler = Arc<dyn Fn(Job) -> BoxFuture<'static, Result<(), JobError>> + Send + Sync>;

/// Every type of job that this process can run.
#[derive(Clone, Default)]
pub struct Registry {
    pub(super) types: BTreeMap<&'static str, (JobType, JobHandler)>,
}

impl Registry {
    pub fn new() -> Self {
        Self::default()
    }

    /// Registering a name twice is a mistake in the wiring.
    pub fn register<F, R>(&mut self, job_type: JobType, handler: F)
    where
        F: Fn(Job) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), JobError>> + Send + 'static,
    {
        let name = job_type.name;
        let handler: JobHandler = Arc::new(move |job| handler(job).boxed());
        let before = self.types.insert(name, (job_type, handler));
        assert!(before.is_none(), "the job type {name} is registered twice");
    }

    /// Takes over the types of a module.
    pub fn extend(&mut self, other: Self) {
        for (name, registered) in other.types {
            let before = self.types.insert(name, registered);
            assert!(before.is_none(), "the job type {name} is registered twice");
        }
    }

    /// Lets the queue take jobs of these types before anybody runs them.
    pub async fn put_types(&self, db: &crate::Db) -> Result<(), crate::DbError> {
        for (job_type, _) in self.types.values() {
            super::store::register_job_type(db.pool(), job_type).await?;
        }
        Ok(())
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.types.keys().copied().collect()
    }
}
