//! The sender: claims answers that are due, sends each through its messenger, and records what came of it.
//!
//! It decides nothing about what may be sent and when: `shopbot.claim_answers` does. It holds no transaction and no
//! connection while a provider is called. What it holds in memory may be lost at any moment: leases give it back.

mod finish;
mod send;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use messengers::Messenger;
use platform::{Db, DbError, failpoint, secrets::Secrets, wake::Topic};
use tokio::sync::{Notify, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

use crate::store;
use finish::{Finish, Finisher};

/// How much is under way at once in one process.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub in_flight_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { in_flight_max: 256 }
    }
}

/// A call to a provider ends within half a minute; whatever is under way for longer than this has no owner any more.
const LEASE: Duration = Duration::from_mins(1);
/// What one claim takes at most.
const CLAIM_MAX: usize = 128;
/// The shortest time from one claim to the next, and after one that took so much that more is on its way: a claim costs the
/// database almost the same for one answer as for a hundred.
const PACE: Duration = Duration::from_millis(5);
const PACE_WHEN_BUSY: Duration = Duration::from_millis(20);
const BUSY_FROM: usize = 8;
/// The longest sleep while something waits: times that move (a bot that an operator enables) are found by looking.
const LOOK_WHILE_WAITING: Duration = Duration::from_secs(1);
/// The longest sleep when there is nothing: whoever handles messages in plain SQL tells nobody.
const LOOK_WHILE_IDLE: Duration = Duration::from_secs(5);

/// What the sender works with.
#[derive(Clone, Debug)]
pub struct Tools {
    pub db: Db,
    pub telegram: Messenger,
    pub max: Messenger,
    pub secrets: Secrets,
}

#[derive(Clone)]
pub struct Sender {
    inner: Arc<Inner>,
}

struct Inner {
    tools: Tools,
    settings: Settings,
    /// The first part of every claim token of this process.
    name: String,
    claims: AtomicU64,
    in_flight: AtomicUsize,
    /// Something was finished: there is room, and the next answer of a chat may go.
    finished: Notify,
    tasks: TaskTracker,
}

impl Sender {
    pub fn new(tools: Tools, settings: Settings) -> Self {
        let inner = Inner {
            tools,
            settings,
            name: Uuid::new_v4().simple().to_string()[..8].to_owned(),
            claims: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            finished: Notify::new(),
            tasks: TaskTracker::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Works until told to stop, then lets what is being sent come to its end.
    pub async fn run(self, stop: CancellationToken) {
        let inner = &self.inner;
        let (sender, receiver) = mpsc::unbounded_channel();
        let finishing = tokio::spawn(Finisher::new(&inner.tools).run(self.clone(), receiver));
        let mut news = inner.tools.db.wake().subscribe(Topic::Answers);
        while !stop.is_cancelled() {
            let started_at = Instant::now();
            news.borrow_and_update();
            let mut pace = PACE;
            let sleep = match self.claim(&sender).await {
                Ok(0) => self.sleep_for().await,
                Ok(count) => {
                    pace = if count < BUSY_FROM { PACE } else { PACE_WHEN_BUSY };
                    Duration::ZERO
                }
                Err(error) => {
                    tracing::warn!(%error, "shopbot.claim");
                    LOOK_WHILE_WAITING
                }
            };
            if !sleep.is_zero() {
                tokio::select! {
                    () = stop.cancelled() => {}
                    _ = news.changed() => {}
                    () = inner.finished.notified() => {}
                    () = tokio::time::sleep(sleep) => {}
                }
            }
            tokio::time::sleep(pace.saturating_sub(started_at.elapsed())).await;
        }
        inner.tasks.close();
        inner.tasks.wait().await;
        drop(sender);
        let _ = finishing.await;
    }

    /// Works until nothing is due any more; for tests, which move the clock themselves. Returns how many sends it started.
    pub async fn drain(&self) -> Result<usize, DbError> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let finishing = tokio::spawn(Finisher::new(&self.inner.tools).run(self.clone(), receiver));
        let mut started = 0;
        loop {
            let claimed = self.claim(&sender).await?;
            started += claimed;
            if claimed == 0 && self.in_flight() == 0 {
                break;
            }
            while self.in_flight() > 0 {
                self.inner.finished.notified().await;
            }
        }
        drop(sender);
        let _ = finishing.await;
        Ok(started)
    }

    /// Claims what is due and there is room for, and starts to send it.
    async fn claim(&self, results: &mpsc::UnboundedSender<Finish>) -> Result<usize, DbError> {
        let inner = &self.inner;
        let free = inner.settings.in_flight_max.saturating_sub(self.in_flight());
        if free == 0 {
            return Ok(0);
        }
        let limit = i32::try_from(free.min(CLAIM_MAX)).unwrap_or(i32::MAX);
        let run_id = format!("{}-{}", inner.name, inner.claims.fetch_add(1, Ordering::Relaxed));
        let claimed_at = Instant::now();
        let sendings = store::claim_answers(inner.tools.db.pool(), &run_id, limit, LEASE).await?;
        failpoint::hit("shopbot.claimed");
        let count = sendings.len();
        for sending in sendings {
            inner.in_flight.fetch_add(1, Ordering::AcqRel);
            let (tools, results) = (inner.tools.clone(), results.clone());
            inner.tasks.spawn(async move {
                let outcome = send::perform(&tools, &sending, claimed_at + LEASE / 2).await;
                // The receiver outlives every task: it ends only when the last sender is gone.
                let _ = results.send(Finish { sending, outcome });
            });
        }
        Ok(count)
    }

    /// An answer has its end in the database: its place is free.
    fn done(&self, count: usize) {
        self.inner.in_flight.fetch_sub(count, Ordering::AcqRel);
        self.inner.finished.notify_one();
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight.load(Ordering::Acquire)
    }

    /// How long there is nothing to do, unless somebody says otherwise.
    async fn sleep_for(&self) -> Duration {
        let db = &self.inner.tools.db;
        match store::next_answer_at(db.pool()).await {
            Ok(Some(at)) => {
                let until = Duration::try_from(at.duration_since(db.clock().now())).unwrap_or_default();
                // Never in a tight loop: what is due and cannot be claimed is somebody else's for a moment.
                until.clamp(Duration::from_millis(20), LOOK_WHILE_WAITING)
            }
            Ok(None) if self.in_flight() > 0 => LOOK_WHILE_WAITING,
            Ok(None) => LOOK_WHILE_IDLE,
            Err(error) => {
                tracing::warn!(%error, "shopbot.next_answer_at");
                LOOK_WHILE_WAITING
            }
        }
    }
}
