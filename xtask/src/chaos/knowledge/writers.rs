//! The people of the groups, and Telegram that brings what they write: until it is taken, more often than needed, in any order. Their
//! ledger says what was said, linked and forgotten.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet};

use super::groups::{ADMIN, GROUPS, GroupMessage, GroupVersion, PEOPLE, page, page_path, text};
use crate::chaos::{random::Random, stage::Stage};

/// Further ahead of the runners the people do not go, so that a run can end.
const OPEN_MAX: i64 = 80;
const COPIES_MAX: u64 = 2;
/// Pages and messages that are linked and answered again.
const RECENT: usize = 6;

#[derive(Default)]
pub(super) struct ArchiveLedger {
    next_message: AtomicU64,
    next_update: AtomicU64,
    next_page: AtomicU64,
    messages: Mutex<Vec<GroupMessage>>,
    /// The `/forget`s, which are messages too: in which chat, and as which number.
    commands: Mutex<Vec<(i64, u64)>>,
    /// Updates that were answered with 2xx.
    taken: Mutex<Vec<u64>>,
    copies: Mutex<Vec<JoinHandle<()>>>,
    pub(super) repeated: AtomicU64,
    refused: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ArchiveLedger {
    pub(super) fn messages(&self) -> Vec<GroupMessage> {
        lock(&self.messages).clone()
    }

    pub(super) fn commands(&self) -> Vec<(i64, u64)> {
        lock(&self.commands).clone()
    }

    pub(super) fn taken(&self) -> Vec<u64> {
        lock(&self.taken).clone()
    }

    pub(super) fn refused(&self) -> Vec<String> {
        lock(&self.refused).clone()
    }

    /// Waits for the copies that are still on their way.
    pub(super) async fn copies_are_over(&self) -> Result<()> {
        let copies = std::mem::take(&mut *lock(&self.copies));
        for copy in copies {
            copy.await?;
        }
        Ok(())
    }
}

/// Who forgets a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ForgottenBy {
    /// The author answers with `/forget`; only who wrote what is stored may.
    Author,
    Admin,
    Api,
}

/// From one, because Telegram's are.
fn next(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

#[derive(Clone)]
pub(super) struct Writer {
    pub(super) stage: Arc<Stage>,
    pub(super) ledger: Arc<ArchiveLedger>,
}

impl Writer {
    /// Begins one message after the other until told to stop; what was begun is brought to its end.
    pub(super) async fn write_on(self) -> Result<()> {
        let mut lives = JoinSet::new();
        while self.stage.is_pushing.load(Ordering::Acquire) {
            if !self.may_write().await {
                continue;
            }
            let (message, forgetting) = self.begin().await?;
            lives.spawn(self.clone().live(message, forgetting));
            tokio::time::sleep(self.stage.draw(|random| random.millis(50, 700))).await;
        }
        lives.join_all().await;
        Ok(())
    }

    async fn may_write(&self) -> bool {
        if self.stage.inflight.load(Ordering::Acquire) <= OPEN_MAX {
            return true;
        }
        let wait = tokio::time::timeout(Duration::from_millis(20), self.stage.urgent.acquire()).await;
        let Ok(Ok(permit)) = wait else { return false };
        permit.forget();
        true
    }

    /// Draws a message and its fate; its new pages are there before it.
    async fn begin(&self) -> Result<(GroupMessage, Option<ForgottenBy>)> {
        let seed = self.stage.seed;
        let n = next(&self.ledger.next_message);
        let draw = |choose: fn(&mut Random) -> u64| self.stage.draw(choose);
        let count = usize::try_from(draw(|random| if random.one_in(2) { 1 } else { random.between(2, 4) }))?;
        let chat = self.stage.draw(|random| random.pick(&GROUPS)).unwrap_or(GROUPS[0]);
        let author = self.stage.draw(|random| random.pick(&PEOPLE)).unwrap_or(PEOPLE[0]);
        let mut versions = Vec::new();
        for k in 0..count {
            let mut pages = Vec::new();
            for _ in 0..draw(|random| if random.one_in(3) { random.between(1, 2) } else { 0 }) {
                pages.push(self.page().await?);
            }
            pages.dedup();
            let urls: Vec<String> = pages.iter().map(|page| self.stage.page_url(&page_path(seed, *page))).collect();
            versions.push(GroupVersion { text: text(seed, n, k, &urls), pages });
        }
        let forgetting = match draw(|random| random.between(0, 11)) {
            0 => Some(ForgottenBy::Author),
            1 => Some(ForgottenBy::Admin),
            2 | 3 => Some(ForgottenBy::Api),
            _ => None,
        };
        let quoted = if self.stage.draw(|random| random.one_in(4)) { self.recent(chat) } else { None };
        let message =
            GroupMessage { n, chat, author, versions, is_forgotten: forgetting.is_some(), quoted: quoted.map(Box::new) };
        lock(&self.ledger.messages).push(message.clone());
        Ok((message, forgetting))
    }

    /// A message of the chat that somebody may answer.
    fn recent(&self, chat: i64) -> Option<GroupMessage> {
        let messages = lock(&self.ledger.messages);
        let of_chat: Vec<&GroupMessage> = messages.iter().rev().filter(|message| message.chat == chat).take(RECENT).collect();
        let found = self.stage.draw(|random| random.pick(&of_chat))?;
        Some(GroupMessage { quoted: None, ..found.clone() })
    }

    /// A new page, or one that was linked before.
    async fn page(&self) -> Result<u64> {
        let last = self.ledger.next_page.load(Ordering::Relaxed);
        if last > 0 && self.stage.draw(|random| random.one_in(3)) {
            let back = self.stage.draw(|random| random.below(RECENT));
            return Ok(last.saturating_sub(u64::try_from(back)?).max(1));
        }
        let number = next(&self.ledger.next_page);
        let seed = self.stage.seed;
        self.stage.set_page(&page_path(seed, number), page(seed, number)).await?;
        Ok(number)
    }

    /// Everything that happens to a message, each at its time; the order is anybody's guess.
    async fn live(self, message: GroupMessage, forgetting: Option<ForgottenBy>) {
        let mut parts = JoinSet::new();
        for k in 0..message.versions.len() {
            let update = message.update(next(&self.ledger.next_update), k);
            let most = if k == 0 { 600 } else { 2_500 };
            let pause = self.stage.draw(|random| random.millis(0, most));
            let writer = self.clone();
            parts.spawn(async move {
                tokio::time::sleep(pause).await;
                writer.bring(update).await;
            });
        }
        if let Some(forgetting) = forgetting {
            let pause = self.stage.draw(|random| random.millis(0, 3_500));
            let writer = self.clone();
            parts.spawn(async move {
                tokio::time::sleep(pause).await;
                writer.forget(&message, forgetting).await;
            });
        }
        parts.join_all().await;
    }

    async fn forget(&self, message: &GroupMessage, forgetting: ForgottenBy) {
        if forgetting == ForgottenBy::Api {
            let body = json!({"kind": "message", "chat_id": message.chat, "message_id": message.n});
            while !self.forget_by_api(&body).await {
                self.ledger.repeated.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            return;
        }
        let is_author = forgetting == ForgottenBy::Author && self.is_stored(message).await;
        let n = next(&self.ledger.next_message);
        lock(&self.ledger.commands).push((message.chat, n));
        let by = if is_author { message.author } else { ADMIN };
        self.bring(message.forget(next(&self.ledger.next_update), n, by)).await;
    }

    async fn is_stored(&self, message: &GroupMessage) -> bool {
        let query = "select exists (select from tg.messages where (chat_id, message_id) = ($1, $2))";
        let query = sqlx::query_scalar(query).bind(message.chat).bind(i32::try_from(message.n).unwrap_or(0));
        query.fetch_one(&self.stage.db).await.unwrap_or(false)
    }

    /// Whether it was answered. One that is not there yet is not found, and does not come any more.
    async fn forget_by_api(&self, body: &Value) -> bool {
        let Some(base) = self.base() else { return false };
        let request = self.stage.http.post(format!("{base}/api/knowledge/forget")).bearer_auth("chaos-token-of-the-archive");
        let Ok(answer) = request.json(body).send().await else { return false };
        let status = answer.status();
        let Ok(words) = answer.text().await else { return false };
        if status.is_client_error() && status != reqwest::StatusCode::NOT_FOUND {
            lock(&self.ledger.refused).push(format!("{status} {words}, to {body}"));
        }
        !status.is_server_error()
    }

    /// Until it is taken, as Telegram does; and some copies, at once or when everybody has forgotten it.
    async fn bring(&self, update: Value) {
        for _ in 0..self.stage.draw(|random| random.between(0, COPIES_MAX)) {
            let pause = self.stage.draw(|random| if random.one_in(2) { Duration::ZERO } else { random.millis(0, 4_000) });
            let (writer, update) = (self.clone(), update.clone());
            let copy = tokio::spawn(async move {
                tokio::time::sleep(pause).await;
                writer.visit(&update).await;
            });
            lock(&self.ledger.copies).push(copy);
        }
        while !self.visit(&update).await {
            self.ledger.repeated.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        lock(&self.ledger.taken).extend(update["update_id"].as_u64());
    }

    /// At any process that takes webhooks. Whether it was answered, for better or worse.
    async fn visit(&self, update: &Value) -> bool {
        let Some(base) = self.base() else { return false };
        let request = self.stage.http.post(format!("{base}/hooks/telegram"));
        let request = request.header("x-telegram-bot-api-secret-token", "chaos-telegram-secret").json(update);
        let Ok(answer) = request.send().await else { return false };
        let status = answer.status();
        // With its body: an answer that broke off is no answer.
        let Ok(words) = answer.text().await else { return false };
        if status.is_client_error() {
            lock(&self.ledger.refused).push(format!("{status} {words}, to {update}"));
        }
        !status.is_server_error()
    }

    fn base(&self) -> Option<String> {
        let bases = self.stage.crew.api_bases();
        self.stage.draw(|random| random.pick(&bases.iter().collect::<Vec<_>>()).cloned())
    }
}
