//! Sources that are asked: feeds, JSON APIs and SQL queries.
//!
//! A recurring job looks for sources whose time has come and enqueues one job for each. That job asks the source
//! without holding a connection, then hands everything to `posting.take_pull_items`, which posts each new item once.
//! A source that fails is recorded in its run and left alone for longer and longer; it never holds up another one.

mod api;
mod config;
mod cursor;
mod database;
mod feed;
mod item;
mod plain;
mod read;
mod secret;
mod store;
mod template;

use std::time::Duration;

use kernel::{TraceId, WorkspaceId, new_id};
use outbound::Fetcher;
use platform::{
    Db, DbError,
    jobs::{self, JobError, JobType, NewJob},
    module::Service,
    wake::Topic,
};
use serde::Deserialize;
use serde_json::{Value, json};

pub use config::validate;
pub use secret::SourceSecrets;

use config::SourceConfig;
use cursor::{SourceCursor, later, pause};
use read::{Picked, PullError};
use store::Source;

pub const PULL: &str = "posting.pull";
pub const PULL_DUE: &str = "posting.pull_due";
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Sources that are asked at once in one process.
const AT_ONCE_MAX: usize = 8;
/// The longest that any source may take: an API of many pages.
const TIMEOUT: Duration = Duration::from_mins(5);
/// How often a source with unreadable settings is looked at again.
const EVERY_SECONDS_WHEN_BROKEN: u32 = 300;

#[derive(Clone, Debug)]
pub struct Puller {
    db: Db,
    fetcher: Fetcher,
    secrets: SourceSecrets,
}

#[derive(Deserialize)]
struct PullPayload {
    source_id: String,
}

/// The jobs that ask sources: one for each source that is due, and the one that finds them.
pub fn add_jobs(service: Service, puller: &Puller) -> Service {
    let (puller, db) = (puller.clone(), puller.db.clone());
    service
        .job(JobType::new(PULL).concurrency(AT_ONCE_MAX).timeout(TIMEOUT), move |job| {
            let puller = puller.clone();
            async move {
                let payload: PullPayload = job.payload()?;
                let trace = job.trace_id.as_deref().and_then(TraceId::parse).unwrap_or_default();
                puller.pull(job.workspace_id, &payload.source_id, &trace).await.map(drop).map_err(JobError::from)
            }
        })
        .recurring("pull", LOOK_EVERY, JobType::new(PULL_DUE), move |_job| {
            let db = db.clone();
            async move { enqueue_due(&db).await.map(drop).map_err(JobError::from) }
        })
}

/// One job for every source whose time has come; a source whose job is still there gets no second one.
async fn enqueue_due(db: &Db) -> Result<usize, DbError> {
    let mut tx = db.begin_system().await?;
    let due = store::due_sources(&mut tx).await?;
    let count = due.len();
    for (workspace, source_id) in due {
        let job = NewJob::new(PULL, json!({"source_id": source_id})).once(source_id);
        jobs::enqueue(&mut tx, workspace.into(), job, None).await?;
    }
    tx.commit().await?;
    if count > 0 {
        db.wake().tell(Topic::JOBS);
    }
    Ok(count)
}

impl Puller {
    pub fn new(db: Db, fetcher: Fetcher, secrets: SourceSecrets) -> Self {
        Self { db, fetcher, secrets }
    }

    /// Asks one source now. Gives what became of it, as `ingest_runs` has it, or nothing for a source that is not on.
    pub async fn pull(&self, workspace: WorkspaceId, source_id: &str, trace: &TraceId) -> Result<Option<Value>, DbError> {
        let Some(source) = store::find_source(&self.db, workspace, source_id).await? else { return Ok(None) };
        let run_id = new_id();
        store::start_run(&self.db, &source, run_id).await?;
        let config = SourceConfig::parse(&source.kind, &source.config);
        let every_seconds = config.as_ref().map_or(EVERY_SECONDS_WHEN_BROKEN, |config| config.every_seconds);
        let taken = match config {
            Ok(config) => self.take(&source, &config, run_id, trace).await,
            Err(problem) => Err(PullError::from(problem.message)),
        };
        match taken {
            Ok(stats) => Ok(Some(stats)),
            Err(PullError::Db(error)) if error.is_refusal(store::SOURCE_IS_OFF) => {
                store::end_run(&self.db, &source, run_id, "the source was switched off meanwhile").await?;
                Ok(None)
            }
            Err(PullError::Db(error)) => Err(error),
            Err(PullError::Source { text, retry_after }) => {
                let failures = source.cursor.get("failures").and_then(Value::as_u64).unwrap_or(0).saturating_add(1);
                let pause = pause(every_seconds, u32::try_from(failures).unwrap_or(u32::MAX), retry_after);
                let pause = pause.try_into().unwrap_or(jiff::SignedDuration::MAX);
                store::record_failure(&self.db, &source, later(self.db.clock().now(), pause)).await?;
                store::end_run(&self.db, &source, run_id, &text).await?;
                metrics::counter!("beresta_pulls_failed_total").increment(1);
                Ok(Some(json!({"error": text})))
            }
        }
    }

    async fn take(
        &self,
        source: &Source,
        config: &SourceConfig,
        run_id: uuid::Uuid,
        trace: &TraceId,
    ) -> Result<Value, PullError> {
        let mut cursor = SourceCursor::load(&source.cursor, config)?;
        let batch = self.read(source, config, &mut cursor).await?;
        cursor.went_well(self.db.clock().now(), config, batch.is_more);
        let items = batch.picked.iter().map(|picked| match picked {
            Picked::Post(item) => json!({"key": item.key, "payload": item.payload(config, &source.id, trace.as_str())}),
            Picked::Seen(item) => json!({"key": item.key}),
        });
        let items = (!batch.is_unchanged).then(|| Value::Array(items.collect()));
        let stats = store::take_pull_items(&self.db, source, run_id, items, &cursor).await?;
        metrics::counter!("beresta_pulls_total").increment(1);
        self.db.wake().tell(Topic::BUS);
        if stats["enqueued"].as_u64().unwrap_or(0) > 0 {
            self.db.wake().tell(crate::DELIVERIES);
            self.db.wake().tell(Topic::BUS);
        }
        Ok(stats)
    }
}
