//! Telegram's part: brings the messages of many chats to the webhook, those of one chat in order, and takes the answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use beresta_bench::{http::Http, times::now_micros};
use serde_json::Value;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    played::{Answer, Played, Post},
    script::{self, Chats, LINES},
};

const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";
/// How long after the last webhook the last answer may come.
const PATIENCE: Duration = Duration::from_mins(2);

#[derive(Clone)]
pub(crate) struct Telegram {
    http: Http,
    hook_url: String,
    secret: String,
    sink: String,
}

impl Telegram {
    pub(crate) fn new(http: Http, server: &str, secret: &str, sink: &str) -> Self {
        Self { http, hook_url: format!("{server}/hooks/telegram"), secret: secret.to_owned(), sink: sink.to_owned() }
    }

    /// As fast as it goes: so many chats at once, and the next message of a chat as soon as the last one has its 200.
    pub(crate) async fn burst(&self, chats: Chats, at_once: u64) -> Result<Played> {
        let before = self.begin().await?;
        let next = Arc::new(AtomicU64::new(0));
        let mut people: JoinSet<Result<Vec<Post>>> = JoinSet::new();
        for _ in 0..at_once {
            let (telegram, next) = (self.clone(), Arc::clone(&next));
            people.spawn(async move {
                let mut posts = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= chats.count {
                        return Ok(posts);
                    }
                    for line in 0..LINES {
                        posts.push(telegram.bring(chats, index, line).await?);
                    }
                }
            });
        }
        self.gather(chats, before, people).await
    }

    /// So many messages a second, evenly: at any time `rate` chats are under way, and each says something once a second.
    pub(crate) async fn steady(&self, chats: Chats, rate: u64) -> Result<Played> {
        let before = self.begin().await?;
        let start = Instant::now() + Duration::from_millis(100);
        let mut people: JoinSet<Result<Vec<Post>>> = JoinSet::new();
        for index in 0..chats.count {
            let telegram = self.clone();
            let (group, place) = (index / rate, index % rate);
            people.spawn(async move {
                let mut posts = Vec::new();
                for line in 0..LINES {
                    let due = start + Duration::from_secs(group * LINES + line) + Duration::from_micros(place * 1_000_000 / rate);
                    // A message that had to wait for the one before it has waited since it was due.
                    let late = Instant::now().saturating_duration_since(due);
                    sleep_until(due).await;
                    let mut post = telegram.bring(chats, index, line).await?;
                    post.posted_at -= u64::try_from(late.as_micros())?;
                    posts.push(post);
                }
                Ok(posts)
            });
        }
        self.gather(chats, before, people).await
    }

    /// Brings the last messages of the first chats again, as Telegram does when it got no 200; how many were answered again.
    pub(crate) async fn repeat(&self, chats: Chats) -> Result<u64> {
        let before = self.begin().await?;
        let mut replies = 0;
        for index in 0..chats.count {
            replies += u64::from(self.bring(chats, index, LINES - 1).await?.reply.is_some());
        }
        // Long enough for an answer that should not be.
        sleep(Duration::from_secs(2)).await;
        Ok(self.count().await? - before + replies)
    }

    /// What came to the sink since it was last asked, in order.
    pub(crate) async fn answers(&self) -> Result<Vec<Answer>> {
        Ok(serde_json::from_slice(&self.http.get(&format!("{}answers", self.sink)).await?)?)
    }

    async fn bring(&self, chats: Chats, index: u64, line: u64) -> Result<Post> {
        let posted_at = now_micros();
        let update = script::update(chats, index, line, posted_at / 1_000_000);
        let body = self.http.post(&self.hook_url, (SECRET_HEADER, self.secret.as_str()), update).await?;
        let taken_at = now_micros();
        // A bot may answer in the response itself, and then nothing goes to the sink.
        let reply = if body.is_empty() { None } else { Some(read_reply(taken_at, &body)?) };
        Ok(Post { index, line, posted_at, taken_at, reply })
    }

    /// Forgets what the sink has; how many answers it ever got.
    async fn begin(&self) -> Result<u64> {
        self.answers().await?;
        self.count().await
    }

    async fn count(&self) -> Result<u64> {
        let counts: Value = serde_json::from_slice(&self.http.get(&format!("{}counts", self.sink)).await?)?;
        counts["answers"].as_u64().context("`answers`")
    }

    async fn gather(&self, chats: Chats, before: u64, mut people: JoinSet<Result<Vec<Post>>>) -> Result<Played> {
        let mut posts = Vec::new();
        while let Some(said) = people.join_next().await {
            posts.extend(said??);
        }
        let mut answers: Vec<Answer> = posts.iter_mut().filter_map(|post| post.reply.take()).collect();
        let wanted = chats.messages() - u64::try_from(answers.len())?;
        let deadline = Instant::now() + PATIENCE;
        while self.count().await? - before < wanted {
            ensure!(Instant::now() < deadline, "{} of {wanted} answers came", self.count().await? - before);
            sleep(Duration::from_millis(5)).await;
        }
        answers.extend(self.answers().await?);
        Ok(Played { chats, posts, answers })
    }
}

fn read_reply(at: u64, body: &[u8]) -> Result<Answer> {
    let reply: Value = serde_json::from_slice(body)?;
    ensure!(reply["method"] == "sendMessage", "a webhook was answered with {reply}");
    Ok((at, reply["chat_id"].as_i64().context("`chat_id`")?, reply["text"].as_str().context("`text`")?.to_owned()))
}
