//! Wake-ups: how a process learns that there is something new without asking an idle database again and again.
//!
//! A wake-up carries no data and may be lost; the tables are the truth, and every sleeper also has a time at
//! which it looks by itself. NOTIFY serializes commits, so it never runs inside a business transaction: it
//! follows the commit, at most once per interval, on a connection of its own.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use futures::TryFutureExt;
use sqlx::{PgPool, postgres::PgListener};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{DbError, db::within};

/// A wake-up that has not left by then is given up: those who wait for it look by themselves every few seconds.
const NOTIFY_MAX: Duration = Duration::from_secs(10);
/// How long a process that is about to end waits for its wake-ups: for one that is given up, and for another after it.
const FLUSH_MAX: Duration = Duration::from_secs(25);

/// What may be new. A module declares its own: `const DELIVERIES: Topic = Topic::new("deliveries", …)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    name: &'static str,
    /// How often at most the other processes are told.
    interval: Duration,
}

impl Topic {
    pub const JOBS: Self = Self::new("jobs", Duration::from_millis(50));
    /// People look at a screen: told soon.
    pub const BUS: Self = Self::new("bus", Duration::from_millis(10));

    pub const fn new(name: &'static str, interval: Duration) -> Self {
        Self { name, interval }
    }
}

/// The one channel of NOTIFY; the payload says which topic, and which process speaks.
pub const CHANNEL: &str = "beresta_wake";

#[derive(Clone, Debug)]
pub struct Wake {
    inner: Arc<WakeInner>,
}

#[derive(Debug)]
struct WakeInner {
    pool: PgPool,
    /// Our own notifications come back to us; this tells them apart.
    process: Uuid,
    /// The topics that this process has told of or listens to.
    lines: RwLock<HashMap<&'static str, Arc<Line>>>,
}

#[derive(Debug)]
struct Line {
    local: watch::Sender<u64>,
    remote: AtomicU8,
}

const IDLE: u8 = 0;
const SENDING: u8 = 1;
const SENDING_AND_MORE: u8 = 2;

impl Line {
    fn new() -> Self {
        Self { local: watch::Sender::new(0), remote: AtomicU8::new(IDLE) }
    }

    fn ring(&self) {
        self.local.send_modify(|n| *n += 1);
    }
}

impl Wake {
    pub(crate) fn new(pool: PgPool) -> Self {
        Self { inner: Arc::new(WakeInner { pool, process: Uuid::new_v4(), lines: RwLock::default() }) }
    }

    /// Tells this process and, soon, the others. Call it after the commit.
    pub fn tell(&self, topic: Topic) {
        let line = self.line(topic);
        line.ring();
        // In one step: between a look and a store the sender could find nothing more to do and end.
        let next = |state| Some(if state == IDLE { SENDING } else { SENDING_AND_MORE });
        if line.remote.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(IDLE) {
            tokio::spawn(self.clone().tell_others(topic, line));
        }
    }

    /// Waits until the other processes have been told, for a process that is about to end; not for ever, because a wake-up may be lost.
    pub async fn flush(&self) {
        let told = async {
            for line in self.lines() {
                while line.remote.load(Ordering::Acquire) != IDLE {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        if tokio::time::timeout(FLUSH_MAX, told).await.is_err() {
            tracing::warn!("wake.flush");
        }
    }

    /// Changes whenever there may be something new.
    pub fn subscribe(&self, topic: Topic) -> watch::Receiver<u64> {
        self.line(topic).local.subscribe()
    }

    /// Listens for the other processes until told to stop; survives a database that goes away and comes back.
    pub async fn listen(self, stop: CancellationToken) {
        let mut pause = Duration::from_millis(100);
        while !stop.is_cancelled() {
            let listening = async {
                let mut listener = PgListener::connect_with(&self.inner.pool).await?;
                listener.listen(CHANNEL).await?;
                pause = Duration::from_millis(100);
                // What was told while this process did not listen is found by looking.
                self.lines().iter().for_each(|line| line.ring());
                while let Some(notification) = listener.try_recv().await? {
                    self.hear(notification.payload());
                }
                Ok::<(), sqlx::Error>(())
            };
            tokio::select! {
                () = stop.cancelled() => return,
                result = listening => if let Err(error) = result {
                    tracing::debug!(%error, "wake.listen");
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(Duration::from_secs(5)),
            }
        }
    }

    /// A topic that nothing in this process uses is passed over.
    fn hear(&self, payload: &str) {
        let Some((topic, process)) = payload.split_once(' ') else { return };
        if process == self.inner.process.to_string() {
            return;
        }
        if let Some(line) = self.inner.lines.read().unwrap_or_else(PoisonError::into_inner).get(topic) {
            line.ring();
        }
    }

    fn lines(&self) -> Vec<Arc<Line>> {
        self.inner.lines.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn line(&self, topic: Topic) -> Arc<Line> {
        if let Some(line) = self.inner.lines.read().unwrap_or_else(PoisonError::into_inner).get(topic.name) {
            return Arc::clone(line);
        }
        let mut lines = self.inner.lines.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lines.entry(topic.name).or_insert_with(|| Arc::new(Line::new())))
    }

    async fn tell_others(self, topic: Topic, line: Arc<Line>) {
        let payload = format!("{} {}", topic.name, self.inner.process);
        loop {
            let notify = sqlx::query("select pg_notify($1, $2)").bind(CHANNEL).bind(&payload).execute(&self.inner.pool);
            // A line that waits for ever for a lost answer would never again tell another process of anything.
            if let Err(error) = within(NOTIFY_MAX, notify.map_err(DbError::from)).await {
                tracing::debug!(%error, "wake.notify");
            }
            tokio::time::sleep(topic.interval).await;
            if line.remote.compare_exchange(SENDING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return;
            }
            line.remote.store(SENDING, Ordering::Release);
        }
    }
}
