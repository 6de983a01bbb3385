//! Recording results. Those of a workspace gather while its last batch is being written, so the busier it is, the more results share
//! a commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use futures::FutureExt;
use kernel::WorkspaceId;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};

use super::{Engine, Outbox};
use crate::{DbError, db, failpoint, wake::Topic};

const BATCH_MAX: usize = 500;
/// While much is under way, a commit waits this long for more results to share it.
const GATHER_FOR: Duration = Duration::from_millis(10);
const FAILURES_AT_ONCE: usize = 4;
/// After this long the lease of what is to be recorded is long over, and what a sweeper decided stands.
const KEEP_TRYING_FOR: Duration = Duration::from_mins(10);

/// An effect and what came of it.
#[derive(Debug)]
pub struct Finished<E, O> {
    pub effect: E,
    pub outcome: O,
}

/// An effect has come to its end; without an outcome when there is nothing to record.
pub(super) struct EndedEffect<E, O> {
    pub(super) workspace: WorkspaceId,
    pub(super) finished: Option<Finished<E, O>>,
    /// How many are under way in its workspace.
    pub(super) in_flight: Arc<AtomicUsize>,
}

pub(super) type ResultReceiver<T> = mpsc::UnboundedReceiver<EndedOf<T>>;
type EndedOf<T> = EndedEffect<<T as Outbox>::Effect, <T as Outbox>::Outcome>;

/// Records results until the last one who can send some is gone. Each workspace has one batch under way at most, and waits for no other: a
/// row that somebody holds in one of them must not outlast the leases of all.
pub(super) async fn record_all<T: Outbox>(engine: Engine<T>, mut results: ResultReceiver<T>) {
    let mut batch = Vec::new();
    let mut waiting: BTreeMap<WorkspaceId, Vec<EndedOf<T>>> = BTreeMap::new();
    let mut recording: JoinSet<WorkspaceId> = JoinSet::new();
    let mut busy = BTreeSet::new();
    let mut is_open = true;
    while is_open || !recording.is_empty() {
        tokio::select! {
            came = results.recv_many(&mut batch, BATCH_MAX), if is_open => {
                is_open = came > 0;
                if is_open && batch.len() < BATCH_MAX / 4 && engine.is_busy() {
                    tokio::time::sleep(GATHER_FOR).await;
                    while batch.len() < BATCH_MAX
                        && let Ok(ended) = results.try_recv()
                    {
                        batch.push(ended);
                    }
                }
                for ended in batch.drain(..) {
                    waiting.entry(ended.workspace).or_default().push(ended);
                }
            }
            Some(done) = recording.join_next() => {
                // A task ends by itself only: what it does inside is caught there.
                if let Ok(workspace) = done {
                    busy.remove(&workspace);
                }
            }
        }
        let free: Vec<WorkspaceId> = waiting.keys().copied().filter(|workspace| !busy.contains(workspace)).collect();
        for workspace in free {
            let Some(mut some) = waiting.remove(&workspace) else { continue };
            if some.len() > BATCH_MAX {
                waiting.insert(workspace, some.split_off(BATCH_MAX));
            }
            busy.insert(workspace);
            recording.spawn(record_batch(engine.clone(), workspace, some));
        }
    }
}

async fn record_batch<T: Outbox>(engine: Engine<T>, workspace: WorkspaceId, batch: Vec<EndedOf<T>>) -> WorkspaceId {
    failpoint::hit_in(T::NAME, "sent_not_recorded");
    let (places, finished): (Vec<_>, Vec<_>) = batch.into_iter().map(|ended| (ended.in_flight, ended.finished)).unzip();
    let finished: Vec<_> = finished.into_iter().flatten().collect();
    if AssertUnwindSafe(engine.outbox().record(workspace, &finished)).catch_unwind().await.is_err() {
        tracing::error!(outbox = T::NAME, left = finished.len(), "outbox.record_panicked");
    }
    failpoint::hit_in(T::NAME, "recorded");
    for place in &places {
        engine.has_ended(place);
    }
    engine.outbox().db().wake().tell(Topic::BUS);
    workspace
}

/// Calls again and again while the database is away, for what must not be forgotten: the result of something that was done
/// outside. Nothing when the database refused, or was away for too long.
pub async fn retry_until_recorded<T, F: Future<Output = Result<T, DbError>>>(what: &str, call: impl Fn() -> F) -> Option<T> {
    keep_trying(what, call).await.ok()
}

/// Records `count` results with one call and, if the database refuses them as a whole, each by itself: one that cannot be recorded must not make all the
/// others be done again. `call` records the results of this range; what it returned, of all that were recorded.
pub async fn record_together<T, F: Future<Output = Result<Vec<T>, DbError>>>(
    what: &str,
    count: usize,
    call: impl Fn(Range<usize>) -> F,
) -> Vec<T> {
    match keep_trying(what, || call(0..count)).await {
        Ok(recorded) => recorded,
        // The database was away for so long that the leases have decided.
        Err(error) if error.is_retryable() || count == 1 => Vec::new(),
        Err(_refused) => {
            let mut recorded = Vec::new();
            for index in 0..count {
                recorded.extend(keep_trying(what, || call(index..index + 1)).await.unwrap_or_default());
            }
            recorded
        }
    }
}

/// Records successes together and failures a few at a time, each in a transaction of its own. `sort` says which a result is.
pub async fn record_apart<'a, F, S, X, A, B>(
    finished: &'a [F],
    sort: impl Fn(&'a F) -> Result<S, X>,
    successes: impl FnOnce(Vec<S>) -> A,
    failure: impl Fn(X) -> B,
) where
    A: Future<Output = ()>,
    B: Future<Output = ()>,
{
    let (mut succeeded, mut failed) = (Vec::new(), Vec::new());
    for result in finished {
        match sort(result) {
            Ok(success) => succeeded.push(success),
            Err(other) => failed.push(other),
        }
    }
    if !succeeded.is_empty() {
        successes(succeeded).await;
    }
    let mut failed = failed.into_iter();
    loop {
        let some: Vec<B> = failed.by_ref().take(FAILURES_AT_ONCE).map(&failure).collect();
        if some.is_empty() {
            return;
        }
        futures::future::join_all(some).await;
    }
}

async fn keep_trying<T, F: Future<Output = Result<T, DbError>>>(what: &str, call: impl Fn() -> F) -> Result<T, DbError> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(50);
    loop {
        match db::within(db::ANSWER_MAX, call()).await {
            Ok(value) => return Ok(value),
            Err(error) if error.is_retryable() && started.elapsed() < KEEP_TRYING_FOR => {
                tracing::warn!(%error, what, "outbox.record");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            Err(error) => {
                tracing::error!(%error, what, "outbox.record");
                return Err(error);
            }
        }
    }
}
