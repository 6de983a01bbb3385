//! Tells watchers what happened, live, without losing anything.
//!
//! A module publishes inside its transaction; after the commit a wake-up makes one reader per process fetch what
//! is new and hand it to the subscribers of each topic. A subscriber may resume from the last position it saw: it
//! gets everything after it, in order, or is told that the gap cannot be filled. A slow subscriber is dropped, not
//! waited for; it comes back with its position.

use std::{
    collections::HashMap,
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kernel::{Problem, WorkspaceId};
use serde_json::Value;
use sqlx::PgConnection;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{Db, DbError, wake::Topic as WakeTopic};

/// How many messages wait for one subscriber before it counts as slow.
const WAITING_MAX: usize = 1024;
const PAGE: i32 = 1000;
/// With subscribers, the reader looks by itself this often, for a wake-up that was lost.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How soon to look again when a running transaction holds back something that is committed already.
const HELD_BACK: Duration = Duration::from_millis(5);

/// A place in the order of everything that was published. Opaque to clients; compare it only with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    xid: u64,
    id: i64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.xid, self.id)
    }
}

impl FromStr for Position {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let parse = || {
            let (xid, id) = text.split_once('-')?;
            let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            (is_plain(xid) && is_plain(id)).then_some(())?;
            Some(Self { xid: xid.parse().ok()?, id: id.parse().ok()? })
        };
        parse().ok_or_else(|| Problem::validation("since", "this is not a position that the stream gave out"))
    }
}

#[derive(Clone, Debug)]
pub struct Message {
    pub position: Position,
    pub payload: Arc<Value>,
}

#[derive(Debug, thiserror::Error)]
pub enum SubscribeError {
    /// Start over: read the present state, and subscribe without a position.
    #[error("what followed this position is not kept any more")]
    Gap,
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Publishes in the caller's transaction. After the commit, call `db.wake().tell(Topic::Bus)`.
pub async fn publish(tx: &mut PgConnection, workspace: WorkspaceId, topic: &str, payload: &Value) -> Result<(), DbError> {
    sqlx::query("select bus.publish($1, $2, $3)").bind(workspace.uuid()).bind(topic).bind(payload).execute(tx).await?;
    Ok(())
}

#[derive(Clone, Debug)]
pub struct Bus {
    db: Db,
    hub: Arc<Hub>,
}

#[derive(Debug, Default)]
struct Hub {
    state: Mutex<State>,
    /// Rung when the first subscriber comes.
    started: Notify,
}

type Key = (WorkspaceId, String);

#[derive(Debug, Default)]
struct State {
    subscribers: HashMap<Key, Vec<mpsc::Sender<Message>>>,
    /// Everything up to here was handed on. Absent while nobody subscribes: then nothing is read.
    position: Option<Position>,
}

impl Bus {
    pub fn new(db: Db) -> Self {
        Self { db, hub: Arc::default() }
    }

    /// The present position: take it before reading a snapshot, and subscribe from it after.
    pub async fn position(&self) -> Result<Position, DbError> {
        let text: String = sqlx::query_scalar("select bus.position()").fetch_one(self.db.pool()).await?;
        text.parse().map_err(|_| DbError::Bug(sqlx::Error::Decode("bus position".into())))
    }

    /// Everything on the topic after the position; without one, everything from now on.
    pub async fn subscribe(
        &self,
        workspace: WorkspaceId,
        topic: &str,
        after: Option<Position>,
    ) -> Result<Subscription, SubscribeError> {
        let now = self.position().await?;
        let (tx, live) = mpsc::channel(WAITING_MAX);
        {
            let mut state = self.hub.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.position.get_or_insert(now);
            state.subscribers.entry((workspace, topic.to_owned())).or_default().push(tx);
        }
        self.hub.started.notify_one();
        // Registered first and caught up second: what comes in between arrives twice and is told apart by its position.
        let mut subscription = Subscription {
            bus: self.clone(),
            workspace,
            topic: topic.to_owned(),
            position: after.unwrap_or(now),
            missed: Vec::new().into_iter(),
            is_caught_up: false,
            live,
        };
        subscription.read_page().await?;
        Ok(subscription)
    }

    /// Hands on what is new until told to stop.
    pub async fn run(self, stop: CancellationToken) {
        let mut news = self.db.wake().subscribe(WakeTopic::Bus);
        loop {
            news.mark_unchanged();
            let wait = match self.hand_on().await {
                Ok(Some(wait)) => wait,
                Ok(None) => {
                    tokio::select! {
                        () = self.hub.started.notified() => continue,
                        () = stop.cancelled() => return,
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "bus.read");
                    Duration::from_millis(500)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = news.changed(), if wait > HELD_BACK => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Reads and hands on everything new; says how long to sleep, or nothing when nobody subscribes.
    async fn hand_on(&self) -> Result<Option<Duration>, DbError> {
        loop {
            let Some(position) = self.hub.wanted_from() else { return Ok(None) };
            let rows: Vec<Row> = sqlx::query_as("select * from bus.read_all_after($1, $2)")
                .bind(position.to_string())
                .bind(PAGE)
                .fetch_all(self.db.pool())
                .await?;
            let is_held_back = rows.last().is_some_and(|row| row.is_more_coming);
            let mut is_empty = true;
            for (key, message) in rows.into_iter().filter_map(Row::into_message) {
                self.hub.hand_on(&key, &message);
                is_empty = false;
            }
            if is_empty {
                return Ok(Some(if is_held_back { HELD_BACK } else { LOOK_EVERY }));
            }
        }
    }
}

/// A row of `bus.read_all_after`: a message, or the word that more is coming.
#[derive(sqlx::FromRow)]
struct Row {
    topic: Option<String>,
    workspace_id: Option<Uuid>,
    position: Option<String>,
    payload: Option<Value>,
    is_more_coming: bool,
}

impl Row {
    fn into_message(self) -> Option<(Key, Message)> {
        let key = (self.workspace_id?.into(), self.topic?);
        Some((key, Message { position: self.position?.parse().ok()?, payload: Arc::new(self.payload?) }))
    }
}

impl Hub {
    /// Where to read on from; forgets the place when the last subscriber has gone.
    fn wanted_from(&self) -> Option<Position> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.subscribers.retain(|_, subscribers| {
            subscribers.retain(|subscriber| !subscriber.is_closed());
            !subscribers.is_empty()
        });
        if state.subscribers.is_empty() {
            state.position = None;
        }
        state.position
    }

    fn hand_on(&self, key: &Key, message: &Message) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.position = Some(message.position);
        if let Some(subscribers) = state.subscribers.get_mut(key) {
            // A full queue means a slow reader: dropping the sender ends its subscription.
            subscribers.retain(|subscriber| subscriber.try_send(message.clone()).is_ok());
        }
    }
}

/// A place in the stream of one topic.
#[derive(Debug)]
pub struct Subscription {
    bus: Bus,
    workspace: WorkspaceId,
    topic: String,
    position: Position,
    missed: std::vec::IntoIter<Message>,
    is_caught_up: bool,
    live: mpsc::Receiver<Message>,
}

impl Subscription {
    /// The last position that was given out, or the one this subscription started from.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The next message. Nothing means that this subscriber was too slow and has to come back with its position.
    pub async fn next(&mut self) -> Result<Option<Message>, SubscribeError> {
        loop {
            if let Some(message) = self.missed.next() {
                self.position = message.position;
                return Ok(Some(message));
            }
            if !self.is_caught_up {
                self.read_page().await?;
                continue;
            }
            match self.live.recv().await {
                Some(message) if message.position > self.position => {
                    self.position = message.position;
                    return Ok(Some(message));
                }
                Some(_seen) => {}
                None => return Ok(None),
            }
        }
    }

    async fn read_page(&mut self) -> Result<(), SubscribeError> {
        let rows: Result<Vec<(String, Value)>, DbError> = sqlx::query_as("select * from bus.read_topic_after($1, $2, $3, $4)")
            .bind(self.workspace.uuid())
            .bind(&self.topic)
            .bind(self.position.to_string())
            .bind(PAGE)
            .fetch_all(self.bus.db.pool())
            .await
            .map_err(DbError::from);
        let rows = match rows {
            Err(error) if error.is_refusal("ZP006") => return Err(SubscribeError::Gap),
            rows => rows?,
        };
        self.is_caught_up = rows.len() < usize::try_from(PAGE).unwrap_or(0);
        let messages = rows
            .into_iter()
            .filter_map(|(position, payload)| Some(Message { position: position.parse().ok()?, payload: Arc::new(payload) }));
        self.missed = messages.collect::<Vec<_>>().into_iter();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_from_outside_is_read_strictly() {
        assert_eq!("12-34".parse::<Position>().unwrap().to_string(), "12-34");
        for bad in
            ["", "-", "12", "12-", "-34", "+1-2", "1--2", "1-2-3", "a-1", "99999999999999999999999-1", "1-99999999999999999999"]
        {
            assert!(bad.parse::<Position>().is_err(), "{bad}");
        }
    }
}
