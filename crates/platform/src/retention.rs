//! Retention: what each module forgets on schedule, as rules that one recurring job runs.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{FutureExt, future::BoxFuture};
use kernel::WorkspaceId;
use serde_json::{Value, json};

use crate::{
    Db, DbError,
    db::within,
    jobs::{JobError, JobType, Registry},
    journal::{self, Entry, ErrorRecord},
    module::Schedule,
};

pub const JOB_TYPE: &str = "ops.retention";
/// Rows of each kind that go in one transaction.
const BATCH: i32 = 1000;
/// A rule that is not done by then goes on in the next hour.
const BATCHES_TIME_MAX: Duration = Duration::from_mins(10);
/// A rule that has not answered by then has failed: the others must not wait for it.
const RULE_TIME_MAX: Duration = Duration::from_mins(15);

/// One thing that is forgotten.
#[derive(Clone)]
pub struct RetentionRule {
    /// The module and what goes: `posting.media`.
    pub name: &'static str,
    run: Arc<dyn Fn(Db) -> BoxFuture<'static, Result<(), DbError>> + Send + Sync>,
}

impl fmt::Debug for RetentionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RetentionRule").field(&self.name).finish()
    }
}

impl RetentionRule {
    pub fn new<F, R>(name: &'static str, run: F) -> Self
    where
        F: Fn(Db) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), DbError>> + Send + 'static,
    {
        Self { name, run: Arc::new(move |db| run(db).boxed()) }
    }

    /// Forgets at most so many rows in a transaction of its own and says how many went; it is called until none do.
    pub fn batches<F, R>(name: &'static str, forget: F) -> Self
    where
        F: Fn(Db, i32) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<i32, DbError>> + Send + 'static,
    {
        Self::new(name, move |db| {
            let forget = forget.clone();
            async move {
                let started = Instant::now();
                while started.elapsed() < BATCHES_TIME_MAX && forget(db.clone(), BATCH).await? > 0 {}
                Ok(())
            }
        })
    }

    /// The same by a query, which takes the number of rows as `$1`.
    pub fn sql(name: &'static str, query: &'static str) -> Self {
        Self::batches(name, move |db, limit| async move { Ok(sqlx::query_scalar(query).bind(limit).fetch_one(db.pool()).await?) })
    }
}

/// The rules of the platform itself: partitions made ahead and dropped when their time is over, and alerts of long ago.
pub fn rules() -> Vec<RetentionRule> {
    vec![RetentionRule::new("ops.partitions", partitions), RetentionRule::sql("ops.alerts", "select ops.forget($1)")]
}

pub fn register(registry: &mut Registry, db: &Db, rules: Vec<RetentionRule>) {
    let db = db.clone();
    registry.register(JobType::new(JOB_TYPE).concurrency(1).timeout(Duration::from_hours(4)), move |_job| {
        let (db, rules) = (db.clone(), rules.clone());
        async move { run(&db, &rules).await }
    });
}

pub const SCHEDULE: Schedule = Schedule { name: "retention", job_type: JOB_TYPE, every: Duration::from_hours(1) };

/// Every rule once. One that fails is recorded and the others go on; the job is then tried again, and at last an alert.
pub async fn run(db: &Db, rules: &[RetentionRule]) -> Result<(), JobError> {
    let mut failed = Vec::new();
    for rule in rules {
        if let Err(error) = within(RULE_TIME_MAX, (rule.run)(db.clone())).await {
            tracing::warn!(%error, rule = rule.name, "retention.rule");
            let message = error.to_string();
            let record = ErrorRecord {
                source: "retention",
                node: None,
                op: Some(rule.name),
                job_id: None,
                trace_id: None,
                status_code: None,
                message: &message,
                is_retryable: error.is_retryable(),
                error: json!({}),
            };
            journal::record_error(db, WorkspaceId::SYSTEM, record).await;
            failed.push(rule.name);
        }
    }
    let data = json!({"rules": rules.iter().map(|rule| rule.name).collect::<Vec<_>>(), "failed": failed});
    let mut tx = db.begin_system().await?;
    journal::append(&mut tx, WorkspaceId::SYSTEM, entry("retention", None, data)).await?;
    tx.commit().await.map_err(DbError::from)?;
    if failed.is_empty() { Ok(()) } else { Err(JobError::retry(format!("these rules failed: {}", failed.join(", ")))) }
}

async fn partitions(db: Db) -> Result<(), DbError> {
    let mut tx = db.begin_system().await?;
    let changed: Vec<(String, String)> =
        sqlx::query_as("select partition_name, what from platform.upkeep_journals()").fetch_all(&mut *tx).await?;
    for (name, what) in changed {
        let action = if what == "made" { "partition_made" } else { "partition_dropped" };
        journal::append(&mut tx, WorkspaceId::SYSTEM, entry(action, Some(&name), json!({}))).await?;
    }
    Ok(tx.commit().await?)
}

fn entry<'a>(action: &'a str, subject: Option<&'a str>, data: Value) -> Entry<'a> {
    Entry { source: "platform", action, subject, trace_id: None, data }
}
