//! Bots that say what they do: an action starts, and ends, in one chat after the other.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use beresta_bench::{http::Http, times::now_micros};
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

/// So that no two runs use the same ids.
static RUNS: AtomicU64 = AtomicU64::new(0);

#[derive(Clone)]
pub(crate) struct Bots {
    http: Http,
    server: String,
    token: String,
    chats: u64,
    run: u64,
}

/// When the first and the last event were told, and how long each reply took in microseconds.
pub(crate) struct Told {
    pub(crate) first_at: u64,
    pub(crate) last_at: u64,
    pub(crate) replies: Vec<u64>,
}

impl Bots {
    pub(crate) fn new(http: &Http, server: &str, token: &str, chats: u64) -> Self {
        let server = server.trim_end_matches('/').to_owned();
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        Self { http: http.clone(), server, token: format!("Bearer {token}"), chats, run }
    }

    /// As fast as it goes, so many calls at once: two events to each action.
    pub(crate) async fn burst(&self, events: u64, at_once: u64) -> Result<Told> {
        let next = Arc::new(AtomicU64::new(0));
        let mut bots: JoinSet<Result<Vec<u64>>> = JoinSet::new();
        let first_at = now_micros();
        for _ in 0..at_once {
            let (bots_of, next) = (self.clone(), Arc::clone(&next));
            bots.spawn(async move {
                let mut replies = Vec::new();
                loop {
                    let action = next.fetch_add(1, Ordering::Relaxed);
                    if action >= events / 2 {
                        return Ok(replies);
                    }
                    replies.push(bots_of.tell(action, false, now_micros()).await?);
                    replies.push(bots_of.tell(action, true, now_micros()).await?);
                }
            });
        }
        gather(first_at, bots).await
    }

    /// So many events a second, evenly, whatever becomes of the ones before. The time counts from when an event was due, so that a stall is
    /// seen by everything that it held up.
    pub(crate) async fn steady(&self, events: u64, rate: u64) -> Result<Told> {
        let lead = Duration::from_millis(50);
        let (start, start_micros) = (Instant::now() + lead, now_micros() + 50_000);
        let mut bots: JoinSet<Result<Vec<u64>>> = JoinSet::new();
        let first_at = now_micros();
        for action in 0..events / 2 {
            let bot = self.clone();
            bots.spawn(async move {
                let after = |event: u64| Duration::from_micros(event * 1_000_000 / rate);
                let due_micros = |event: u64| start_micros + event * 1_000_000 / rate;
                sleep_until(start + after(action * 2)).await;
                let started = bot.tell(action, false, due_micros(action * 2)).await?;
                sleep_until(start + after(action * 2 + 1)).await;
                Ok(vec![started, bot.tell(action, true, due_micros(action * 2 + 1)).await?])
            });
        }
        gather(first_at, bots).await
    }

    /// Says that an action begins or ends, which counts as told at this moment; how long the reply took.
    async fn tell(&self, action: u64, is_end: bool, sent: u64) -> Result<u64> {
        let (run, chat) = (self.run, action % self.chats);
        let called_at = now_micros();
        let (path, body) = if is_end {
            let body = json!({"actionId": format!("{run}-{action}"), "status": "done", "payload": {"sent": sent}});
            ("update", body)
        } else {
            let body = json!({
                "chatId": format!("bench-{chat}"), "actionId": format!("{run}-{action}"), "actionType": "searching_products",
                "displayText": "Ищу подходящие товары", "payload": {"sent": sent},
            });
            ("start", body)
        };
        let url = format!("{}/api/chat/actions/{path}", self.server);
        self.http.post(&url, ("authorization", &self.token), body.to_string()).await?;
        Ok(now_micros() - called_at)
    }
}

async fn gather(first_at: u64, mut bots: JoinSet<Result<Vec<u64>>>) -> Result<Told> {
    let mut replies = Vec::new();
    while let Some(done) = bots.join_next().await {
        replies.extend(done??);
    }
    Ok(Told { first_at, last_at: now_micros(), replies })
}
