//! Tells watchers what happened, live, without losing anything.
//!
//! A module publishes inside its transaction; after the commit a wake-up makes one reader per process fetch what
//! is new and hand it to the subscribers of each topic. A subscriber may resume from the last position it saw: it
//! gets everything after it, in order, or is told that the gap cannot be filled. A slow subscriber is dropped, not
//! waited for; it comes back with its position. A watcher hears every topic of its workspace, from now on.

use std::{
    collections::{HashMap, hash_map::Entry},
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

use crate::{
    Db, DbError,
    db::{ANSWER_MAX, within},
    wake::Topic as WakeTopic,
};

/// How many messages wait for one subscriber before it counts as slow.
const WAITING_MAX: usize = 1024;
const PAGE: i32 = 1000;
/// Stands for every topic where subscribers are kept. No topic has this name: the table refuses an empty one.
const ANY_TOPIC: &str = "";
const READ_ALL_AFTER: &str =
    "select topic, workspace_id, position, payload::text, is_more_coming from bus.read_all_after($1, $2)";
const READ_TOPIC_AFTER: &str = "select position, payload::text from bus.read_topic_after($1, $2, $3, $4)";
/// With subscribers, the reader looks by itself this often, for a wake-up that was lost.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How soon to look again when a running transaction holds back something that is committed already: most are over in a moment, and one that
/// is not should not cost a look every moment.
const HELD_BACK_MIN: Duration = Duration::from_millis(1);
const HELD_BACK_MAX: Duration = Duration::from_millis(16);

/// A place in the order of everything that was published. Clients compare it with others, number by number, and read nothing else out of it.
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
    pub topic: Arc<str>,
    pub position: Position,
    /// JSON as text, because it is handed on far more often than anybody looks into it: once for each watcher.
    pub payload: Arc<str>,
}

#[derive(Debug, thiserror::Error)]
pub enum SubscribeError {
    /// Start over: read the present state, and subscribe without a position.
    #[error("what followed this position is not kept any more")]
    Gap,
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Publishes in the caller's transaction. After the commit, call `db.wake().tell(Topic::BUS)`.
pub async fn publish(tx: &mut PgConnection, workspace: WorkspaceId, topic: &str, payload: &Value) -> Result<(), DbError> {
    sqlx::query("select bus.publish($1, $2, $3)").bind(workspace.uuid()).bind(topic).bind(payload).execute(tx).await?;
    Ok(())
}

#[derive(Clone, Debug)]
pub struct Bus {
    db: Db,
    hub: Arc<Hub>,
    look_every: Duration,
}

#[derive(Debug, Default)]
struct Hub {
    state: Mutex<BusState>,
    /// Rung when the first subscriber comes.
    started: Notify,
}

type TopicKey = (WorkspaceId, String);

#[derive(Debug, Default)]
struct BusState {
    subscribers: HashMap<TopicKey, Vec<mpsc::Sender<Message>>>,
    /// Everything up to here was handed on. Absent while nobody subscribes: then nothing is read.
    position: Option<Position>,
}

impl Bus {
    pub fn new(db: Db) -> Self {
        Self { db, hub: Arc::default(), look_every: LOOK_EVERY }
    }

    /// With another time between two looks that nobody asked for. Where it is long, whatever arrives was told of by a wake-up.
    #[must_use]
    pub fn looking_every(self, look_every: Duration) -> Self {
        Self { look_every, ..self }
    }

    /// The present position: take it before reading a snapshot, and subscribe from it after.
    pub async fn position(&self) -> Result<Position, DbError> {
        let asked = async { Ok(sqlx::query_scalar("select bus.position()").fetch_one(self.db.pool()).await?) };
        let text: String = within(ANSWER_MAX, asked).await?;
        text.parse().map_err(|_| DbError::Bug(sqlx::Error::Decode("bus position".into())))
    }

    /// Everything on the topic after the position; without one, everything from now on.
    pub async fn subscribe(
        &self,
        workspace: WorkspaceId,
        topic: &str,
        after: Option<Position>,
    ) -> Result<Subscription, SubscribeError> {
        // Registered first and caught up second: what comes in between arrives twice and is told apart by its position.
        let mut subscription = self.register(workspace, topic).await?;
        subscription.position = after.unwrap_or(subscription.position);
        subscription.read_page().await?;
        Ok(subscription)
    }

    /// Everything that is published in the workspace from now on, whatever its topic.
    pub async fn watch(&self, workspace: WorkspaceId) -> Result<Subscription, DbError> {
        self.register(workspace, ANY_TOPIC).await
    }

    async fn register(&self, workspace: WorkspaceId, topic: &str) -> Result<Subscription, DbError> {
        let position = self.position().await?;
        let (tx, live) = mpsc::channel(WAITING_MAX);
        {
            let mut state = self.hub.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.position.get_or_insert(position);
            state.subscribers.entry((workspace, topic.to_owned())).or_default().push(tx);
        }
        self.hub.started.notify_one();
        let (bus, missed) = (self.clone(), Vec::new().into_iter());
        Ok(Subscription { bus, workspace, topic: topic.to_owned(), position, missed, is_caught_up: true, live })
    }

    /// Hands on what is new until told to stop.
    pub async fn run(self, stop: CancellationToken) {
        let mut news = self.db.wake().subscribe(WakeTopic::BUS);
        let mut held_back = HELD_BACK_MIN;
        loop {
            news.mark_unchanged();
            let looked = tokio::select! {
                looked = self.hand_on() => looked,
                () = stop.cancelled() => return,
            };
            let (wait, is_for_news) = match looked {
                Ok(Looked::HeldBack { is_news }) => {
                    let wait = if is_news { HELD_BACK_MIN } else { held_back };
                    held_back = (wait * 2).min(HELD_BACK_MAX);
                    (wait, false)
                }
                Ok(Looked::AtEverything) => (self.look_every, true),
                Ok(Looked::ForNobody) => {
                    tokio::select! {
                        () = self.hub.started.notified() => continue,
                        () = stop.cancelled() => return,
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "bus.read");
                    (Duration::from_millis(500), true)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = news.changed(), if is_for_news => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Reads and hands on everything new.
    async fn hand_on(&self) -> Result<Looked, DbError> {
        let mut is_news = false;
        loop {
            let Some(position) = self.hub.wanted_from() else { return Ok(Looked::ForNobody) };
            let query = sqlx::query_as(READ_ALL_AFTER).bind(position.to_string()).bind(PAGE);
            let asked = async { Ok(query.fetch_all(self.db.pool()).await?) };
            let rows: Vec<MessageRow> = within(ANSWER_MAX, asked).await?;
            let is_held_back = rows.last().is_some_and(|row| row.is_more_coming);
            let mut is_empty = true;
            for (key, message) in rows.into_iter().filter_map(MessageRow::into_message) {
                self.hub.hand_on(&key, &message);
                is_empty = false;
                is_news = true;
            }
            if is_empty {
                return Ok(if is_held_back { Looked::HeldBack { is_news } } else { Looked::AtEverything });
            }
        }
    }
}

/// What there was for the reader.
enum Looked {
    /// Nobody subscribes.
    ForNobody,
    AtEverything,
    /// More is committed already, and waits for a transaction that runs.
    HeldBack {
        is_news: bool,
    },
}

/// A row of `bus.read_all_after`: a message, or the word that more is coming.
#[derive(sqlx::FromRow)]
struct MessageRow {
    topic: Option<String>,
    workspace_id: Option<Uuid>,
    position: Option<String>,
    payload: Option<String>,
    is_more_coming: bool,
}

impl MessageRow {
    fn into_message(self) -> Option<(TopicKey, Message)> {
        let topic = self.topic?;
        let message =
            Message { topic: topic.as_str().into(), position: self.position?.parse().ok()?, payload: self.payload?.into() };
        Some(((self.workspace_id?.into(), topic), message))
    }
}

impl Hub {
    /// Where to read on from; nothing while nobody subscribes.
    fn wanted_from(&self) -> Option<Position> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).position
    }

    /// Takes subscribers that have gone off the topic, and forgets the place when they were the last.
    fn forget_closed(&self, key: TopicKey) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut subscribers) = state.subscribers.entry(key) {
            subscribers.get_mut().retain(|subscriber| !subscriber.is_closed());
            if subscribers.get().is_empty() {
                subscribers.remove();
            }
        }
        if state.subscribers.is_empty() {
            state.position = None;
        }
    }

    fn hand_on(&self, key: &TopicKey, message: &Message) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.subscribers.is_empty() {
            return;
        }
        state.position = Some(message.position);
        for key in [key, &(key.0, ANY_TOPIC.to_owned())] {
            if let Some(subscribers) = state.subscribers.get_mut(key) {
                // A full queue means a slow reader: dropping the sender ends its subscription.
                subscribers.retain(|subscriber| subscriber.try_send(message.clone()).is_ok());
            }
        }
    }
}

impl Drop for Subscription {
    /// By the one who leaves, because the reader would have to look at every subscriber each time that it reads.
    fn drop(&mut self) {
        self.live.close();
        self.bus.hub.forget_closed((self.workspace, std::mem::take(&mut self.topic)));
    }
}

/// A place in the stream of one topic, or of all topics of a workspace.
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
        let query = sqlx::query_as(READ_TOPIC_AFTER)
            .bind(self.workspace.uuid())
            .bind(&self.topic)
            .bind(self.position.to_string())
            .bind(PAGE);
        let asked = async { Ok(query.fetch_all(self.bus.db.pool()).await?) };
        let rows: Result<Vec<(String, String)>, DbError> = within(ANSWER_MAX, asked).await;
        let rows = match rows {
            Err(error) if error.is_refusal("ZP006") => return Err(SubscribeError::Gap),
            rows => rows?,
        };
        self.is_caught_up = rows.len() < usize::try_from(PAGE).unwrap_or(0);
        let topic: Arc<str> = self.topic.as_str().into();
        let messages = rows.into_iter().filter_map(|(position, payload)| {
            Some(Message { topic: topic.clone(), position: position.parse().ok()?, payload: payload.into() })
        });
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
