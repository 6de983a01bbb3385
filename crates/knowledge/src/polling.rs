//! Updates of bots that are polled: asked for by one process at a time, and handed to the module that the bot serves as a webhook would.
//! An update is confirmed to Telegram by the poll after the one that brought it, once its module has stored it; so a crash brings it again, and
//! its receipt knows it.

use std::{collections::HashSet, panic::AssertUnwindSafe, time::Duration};

use bytes::Bytes;
use futures::FutureExt;
use kernel::{WorkspaceId, new_id};
use platform::{
    DbError,
    db::{ANSWER_MAX, within},
    door::{InnerDoor, PolledUpdate},
    wake::Topic,
};
use serde_json::Value;
use sqlx::FromRow;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{Knowledge, workflows::bot_access};

/// How updates come has changed.
pub const TRANSPORT: Topic = Topic::new("transport", Duration::from_secs(1));
/// How often the list of polled bots is looked at when nobody says that it has changed.
const LOOK_EVERY: Duration = Duration::from_mins(1);
const POLL_SECONDS: u32 = 20;
/// How long a bot is this process's after a poll began. A poll with everything it brings has to end before that.
const LEASE: Duration = Duration::from_mins(2);
const POLL_MAX: Duration = Duration::from_secs(110);
/// The pause after a failure.
const PAUSE: Duration = Duration::from_secs(5);
/// How long a process that stops tries to give a bot back; its lease ends by itself.
const END_MAX: Duration = Duration::from_secs(10);

/// Polls with the workflows' tools, and hands over through the door.
#[derive(Clone)]
pub struct Poller {
    knowledge: Knowledge,
    door: InnerDoor,
    pause: Duration,
}

#[derive(Clone, Debug, FromRow)]
struct PolledBot {
    workspace_id: Uuid,
    bot_id: Uuid,
    secret_ref: String,
    serves: String,
}

impl Poller {
    pub fn new(knowledge: Knowledge, door: InnerDoor) -> Self {
        Self { knowledge, door, pause: PAUSE }
    }

    /// With another pause after a failure.
    #[must_use]
    pub fn pausing(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Polls every bot that is to be polled, until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut changed = self.knowledge.db.wake().subscribe(TRANSPORT);
        let mut under_way: HashSet<Uuid> = HashSet::new();
        let mut tasks: JoinSet<Uuid> = JoinSet::new();
        loop {
            let bots = tokio::select! {
                bots = self.bots() => bots,
                () = stop.cancelled() => break,
            };
            match bots {
                Ok(bots) => {
                    for bot in bots {
                        if under_way.insert(bot.bot_id) {
                            let (poller, stop) = (self.clone(), stop.clone());
                            tasks.spawn(async move {
                                poller.poll_while_asked(&bot, &stop).await;
                                bot.bot_id
                            });
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "polling.bots"),
            }
            tokio::select! {
                () = stop.cancelled() => break,
                _ = changed.changed() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                Some(ended) = tasks.join_next() => {
                    // A task ends by itself only: a panic inside is caught there.
                    if let Ok(bot_id) = ended { under_way.remove(&bot_id); }
                    tokio::select! { () = stop.cancelled() => break, () = tokio::time::sleep(self.pause) => {} }
                }
            }
        }
        while tasks.join_next().await.is_some() {}
    }

    async fn bots(&self) -> Result<Vec<PolledBot>, DbError> {
        let query = sqlx::query_as("select * from knowledge.polling_bots()");
        within(ANSWER_MAX, async { Ok(query.fetch_all(self.knowledge.db.pool()).await?) }).await
    }

    /// Polls one bot while this process has the turn and the bot is polled, and then gives the turn back, also after a panic.
    async fn poll_while_asked(&self, bot: &PolledBot, stop: &CancellationToken) {
        let token = new_id().to_string();
        let polling = async {
            loop {
                match self.poll_once(bot, &token, POLL_SECONDS).await {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => {
                        tracing::warn!(error, bot.id = %bot.bot_id, "polling.failed");
                        tokio::time::sleep(self.pause).await;
                    }
                }
            }
        };
        tokio::select! {
            ended = AssertUnwindSafe(polling).catch_unwind() => if ended.is_err() {
                tracing::error!(bot.id = %bot.bot_id, "polling.panicked");
            },
            () = stop.cancelled() => {}
        }
        if let Err(error) = within(END_MAX, self.end(bot, &token, None)).await {
            tracing::warn!(%error, bot.id = %bot.bot_id, "polling.end");
        }
    }

    /// One poll. False: the bot is not polled any more, or by another process.
    async fn poll_once(&self, bot: &PolledBot, token: &str, seconds: u32) -> Result<bool, String> {
        let polled = tokio::time::timeout(POLL_MAX, self.poll(bot, token, seconds)).await;
        polled.unwrap_or_else(|_elapsed| Err(format!("a poll took longer than {POLL_MAX:?}")))
    }

    async fn poll(&self, bot: &PolledBot, token: &str, seconds: u32) -> Result<bool, String> {
        let query = sqlx::query_scalar("select knowledge.begin_poll($1, $2, $3, $4 * interval '1 second')")
            .bind(bot.workspace_id)
            .bind(bot.bot_id)
            .bind(token)
            .bind(LEASE.as_secs_f64());
        let begun = within(ANSWER_MAX, async { Ok(query.fetch_one(self.knowledge.db.pool()).await?) });
        let offset: Option<i64> = begun.await.map_err(|error: DbError| error.to_string())?;
        let Some(offset) = offset else { return Ok(false) };
        let (telegram, secret) = bot_access(&self.knowledge, &bot.secret_ref).await.map_err(|error| error.to_string())?;
        let updates = telegram.get_updates(&secret, offset, seconds).await;
        let updates = updates.map_err(|error| error.to_string())?;
        let mut last = None;
        for update in updates {
            self.hand_over(bot, &update).await?;
            last = last.max(update["update_id"].as_i64());
        }
        if last.is_some() {
            within(ANSWER_MAX, self.end(bot, token, last)).await.map_err(|error| error.to_string())?;
        }
        Ok(true)
    }

    async fn hand_over(&self, bot: &PolledBot, update: &Value) -> Result<(), String> {
        let polled = PolledUpdate {
            workspace: WorkspaceId::from(bot.workspace_id),
            bot_id: bot.bot_id,
            serves: &bot.serves,
            body: Bytes::from(update.to_string()),
        };
        self.door.hand_over(polled).await.map_err(|problem| problem.to_string())
    }

    async fn end(&self, bot: &PolledBot, token: &str, update_id: Option<i64>) -> Result<(), DbError> {
        let query = sqlx::query("select knowledge.end_poll($1, $2, $3, $4)").bind(bot.workspace_id);
        query.bind(bot.bot_id).bind(token).bind(update_id).execute(self.knowledge.db.pool()).await?;
        Ok(())
    }

    /// One round over all polled bots without waiting, for tests.
    pub async fn drain(&self) -> Result<(), String> {
        for bot in self.bots().await.map_err(|error| error.to_string())? {
            let token = new_id().to_string();
            self.poll_once(&bot, &token, 0).await?;
            self.end(&bot, &token, None).await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
