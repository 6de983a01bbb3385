//! Telegram's part: brings the messages of a group to the webhook.

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

const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";
pub(crate) const CHAT: i64 = -1_001_000_000_001;
pub(crate) const PERSON: i64 = 7_000_000_001;

/// A message, when it was brought and when that was answered with 200.
#[derive(Clone, Copy)]
pub(crate) struct BroughtMessage {
    pub(crate) n: u64,
    pub(crate) posted_at: u64,
    pub(crate) taken_at: u64,
}

#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) http: Http,
    pub(crate) server: String,
    pub(crate) secret: String,
}

impl Group {
    /// As fast as it goes, so many webhooks at once.
    pub(crate) async fn burst(&self, first: u64, messages: u64, at_once: u64) -> Result<Vec<BroughtMessage>> {
        let next = Arc::new(AtomicU64::new(first));
        let mut connections: JoinSet<Result<Vec<BroughtMessage>>> = JoinSet::new();
        for _ in 0..at_once {
            let (group, next) = (self.clone(), Arc::clone(&next));
            connections.spawn(async move {
                let mut posts = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= first + messages {
                        return Ok(posts);
                    }
                    posts.push(group.bring(n).await?);
                }
            });
        }
        gather(connections).await
    }

    /// So many messages a second, evenly, however long the others take.
    pub(crate) async fn steady(&self, first: u64, messages: u64, rate: u64) -> Result<Vec<BroughtMessage>> {
        let start = Instant::now() + Duration::from_millis(100);
        let mut connections: JoinSet<Result<Vec<BroughtMessage>>> = JoinSet::new();
        for n in 0..messages {
            let group = self.clone();
            connections.spawn(async move {
                sleep_until(start + Duration::from_micros(n * 1_000_000 / rate)).await;
                Ok(vec![group.bring(first + n).await?])
            });
        }
        gather(connections).await
    }

    async fn bring(&self, n: u64) -> Result<BroughtMessage> {
        let posted_at = now_micros();
        let update = json!({"update_id": n, "message": {
            "message_id": n, "date": posted_at / 1_000_000, "text": text(n),
            "chat": {"id": CHAT, "type": "supergroup", "title": "Отдел продаж"},
            "from": {"id": PERSON, "is_bot": false, "first_name": "Анна", "username": "anna"},
        }});
        let url = format!("{}/hooks/telegram", self.server);
        self.http.post(&url, (SECRET_HEADER, self.secret.as_str()), update.to_string()).await?;
        Ok(BroughtMessage { n, posted_at, taken_at: now_micros() })
    }
}

/// Some three hundred characters: one chunk.
fn text(n: u64) -> String {
    format!(
        "Заказ номер {n}: берёзовый короб, два лукошка и туесок с крышкой, доставка до двери во вторник после обеда. Покупатель просит позвонить \
         за час, оплата при получении. Если короба нет на складе, предложить такой же с росписью, цена та же, скидка постоянным покупателям десять \
         процентов."
    )
}

async fn gather(mut connections: JoinSet<Result<Vec<BroughtMessage>>>) -> Result<Vec<BroughtMessage>> {
    let mut posts = Vec::new();
    while let Some(brought) = connections.join_next().await {
        posts.extend(brought??);
    }
    Ok(posts)
}
