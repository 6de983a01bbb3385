//! Recording results. One task gathers them while the last batch is being written, so the busier it is, the more results share
//! a commit.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use kernel::WorkspaceId;
use tokio::{sync::mpsc, time::Instant};

use super::{Engine, Outbox};
use crate::{DbError, db, failpoint, wake::Topic};

const BATCH_MAX: usize = 500;
/// While much is under way, a commit waits this long for more results to share it.
const GATHER_FOR: Duration = Duration::from_millis(10);
/// After this long the lease of what is to be recorded is long over, and what a sweeper decided stands.
const KEEP_TRYING_FOR: Duration = Duration::from_mins(10);

/// An effect and what came of it.
#[derive(Debug)]
pub struct Finished<E, O> {
    pub effect: E,
    pub outcome: O,
}

/// An effect has come to its end; without an outcome when there is nothing to record.
pub(super) struct Ended<E, O> {
    pub(super) workspace: WorkspaceId,
    pub(super) finished: Option<Finished<E, O>>,
    /// How many are under way in its workspace.
    pub(super) in_flight: Arc<AtomicUsize>,
}

/// The results of one batch by workspace.
type ByWorkspace<T> = BTreeMap<WorkspaceId, Vec<Finished<<T as Outbox>::Effect, <T as Outbox>::Outcome>>>;

pub(super) type Results<T> = mpsc::UnboundedReceiver<Ended<<T as Outbox>::Effect, <T as Outbox>::Outcome>>;

/// Records results until the last one who can send some is gone.
pub(super) async fn record_all<T: Outbox>(engine: Engine<T>, mut results: Results<T>) {
    let mut batch = Vec::new();
    while results.recv_many(&mut batch, BATCH_MAX).await > 0 {
        if batch.len() < BATCH_MAX / 4 && engine.is_busy() {
            tokio::time::sleep(GATHER_FOR).await;
            while batch.len() < BATCH_MAX
                && let Ok(ended) = results.try_recv()
            {
                batch.push(ended);
            }
        }
        failpoint::hit_in(T::NAME, "sent_not_recorded");
        let mut by_workspace: ByWorkspace<T> = BTreeMap::new();
        let mut places = Vec::with_capacity(batch.len());
        for ended in batch.drain(..) {
            places.push(ended.in_flight);
            by_workspace.entry(ended.workspace).or_default().extend(ended.finished);
        }
        let outbox = engine.outbox();
        futures::future::join_all(by_workspace.iter().map(|(workspace, finished)| outbox.record(*workspace, finished))).await;
        failpoint::hit_in(T::NAME, "recorded");
        for place in &places {
            engine.has_ended(place);
        }
        outbox.db().wake().tell(Topic::BUS);
    }
}

/// Calls again and again while the database is away, for what must not be forgotten: the result of something that was done
/// outside. Nothing when the database refused, or was away for too long.
pub async fn retry_until_recorded<T, F: Future<Output = Result<T, DbError>>>(what: &str, call: impl Fn() -> F) -> Option<T> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(50);
    loop {
        match db::within(db::ANSWER_MAX, call()).await {
            Ok(value) => return Some(value),
            Err(error) if error.is_retryable() && started.elapsed() < KEEP_TRYING_FOR => {
                tracing::warn!(%error, what, "outbox.record");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            Err(error) => {
                tracing::error!(%error, what, "outbox.record");
                return None;
            }
        }
    }
}
