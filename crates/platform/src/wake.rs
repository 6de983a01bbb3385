//! Wake-ups: how a process learns that there is something new without asking an idle database again and again.
//!
//! A wake-up carries no data and may be lost; the tables are the truth, and every sleeper also has a time at
//! which it looks by itself. NOTIFY serializes commits, so it never runs inside a business transaction: it
//! follows the commit, at most once per interval, on a connection of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use sqlx::{PgPool, postgres::PgListener};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// What may be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Jobs,
    Bus,
    /// A post to send.
    Deliveries,
    /// An answer of a bot to send.
    Answers,
}

impl Topic {
    const ALL: [Self; 4] = [Self::Jobs, Self::Bus, Self::Deliveries, Self::Answers];

    fn channel(self) -> &'static str {
        match self {
            Self::Jobs => "beresta_jobs",
            Self::Bus => "beresta_bus",
            Self::Deliveries => "beresta_deliveries",
            Self::Answers => "beresta_answers",
        }
    }

    /// How often at most other processes are told.
    fn interval(self) -> Duration {
        match self {
            Self::Jobs | Self::Deliveries => Duration::from_millis(50),
            // Somebody looks at a screen.
            Self::Bus | Self::Answers => Duration::from_millis(10),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Wake {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    /// Our own notifications come back to us; this tells them apart.
    process: Uuid,
    jobs: Line,
    bus: Line,
    deliveries: Line,
    answers: Line,
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
}

impl Wake {
    pub(crate) fn new(pool: PgPool) -> Self {
        let line = Line::new;
        let inner = Inner { pool, process: Uuid::new_v4(), jobs: line(), bus: line(), deliveries: line(), answers: line() };
        Self { inner: Arc::new(inner) }
    }

    /// Tells this process and, soon, the others. Call it after the commit.
    pub fn tell(&self, topic: Topic) {
        let line = self.line(topic);
        line.local.send_modify(|n| *n += 1);
        // In one step: between a look and a store the sender could find nothing more to do and end.
        let next = |state| Some(if state == IDLE { SENDING } else { SENDING_AND_MORE });
        if line.remote.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(IDLE) {
            tokio::spawn(self.clone().tell_others(topic));
        }
    }

    /// Waits until the other processes have been told, for a process that is about to end.
    pub async fn flush(&self) {
        for topic in Topic::ALL {
            while self.line(topic).remote.load(Ordering::Acquire) != IDLE {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
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
                listener.listen_all(Topic::ALL.map(Topic::channel)).await?;
                pause = Duration::from_millis(100);
                // Whatever was said while nobody listened is found by looking.
                for topic in Topic::ALL {
                    self.ring(topic);
                }
                let own = self.inner.process.to_string();
                while let Some(notification) = listener.try_recv().await? {
                    if notification.payload() != own {
                        let topic = Topic::ALL.into_iter().find(|topic| topic.channel() == notification.channel());
                        if let Some(topic) = topic {
                            self.ring(topic);
                        }
                    }
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

    fn ring(&self, topic: Topic) {
        self.line(topic).local.send_modify(|n| *n += 1);
    }

    fn line(&self, topic: Topic) -> &Line {
        match topic {
            Topic::Jobs => &self.inner.jobs,
            Topic::Bus => &self.inner.bus,
            Topic::Deliveries => &self.inner.deliveries,
            Topic::Answers => &self.inner.answers,
        }
    }

    async fn tell_others(self, topic: Topic) {
        let line = self.line(topic);
        loop {
            let sent = sqlx::query("select pg_notify($1, $2)")
                .bind(topic.channel())
                .bind(self.inner.process.to_string())
                .execute(&self.inner.pool)
                .await;
            if let Err(error) = sent {
                tracing::debug!(%error, "wake.notify");
            }
            tokio::time::sleep(topic.interval()).await;
            if line.remote.compare_exchange(SENDING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return;
            }
            line.remote.store(SENDING, Ordering::Release);
        }
    }
}
