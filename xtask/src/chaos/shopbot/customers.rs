//! The customers, and the provider that brings what they write: until it is taken, more often than needed, to any process. Their
//! ledger says what was acknowledged: a 200, and nothing else.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use reqwest::StatusCode;
use tokio::task::{JoinHandle, JoinSet};

use super::chats::{Chat, HELLO, Provider, poison_marker};
use crate::chaos::{pusher::marker, stage::Stage};

/// Further ahead of the senders the customers do not go, so that a run can end: some four messages for each chat.
const OPEN_MAX: i64 = 100;
/// At most so many copies of an update come beside the one that is brought until it is taken.
const COPIES_MAX: u64 = 3;
/// So many messages a hasty customer sends at once, at most.
const AT_ONCE_MAX: u64 = 4;

/// How often an update was brought, and how often that was answered with 200.
#[derive(Debug, Default)]
pub(super) struct Visits {
    pub(super) brought: AtomicU32,
    pub(super) taken: AtomicU32,
}

/// A message, as its customer remembers it.
#[derive(Clone, Debug)]
pub(super) struct CustomerMessage {
    pub(super) chat: Chat,
    pub(super) n: u64,
    pub(super) said: String,
    /// Messages of one round were sent at once, those of the next only after all of them had been acknowledged.
    pub(super) round: u32,
}

#[derive(Clone)]
struct Update {
    provider: Provider,
    body: Vec<u8>,
    visits: Arc<Visits>,
}

#[derive(Default)]
pub(super) struct Ledger {
    next: AtomicU64,
    messages: Mutex<Vec<(CustomerMessage, Arc<Visits>)>>,
    poison: Mutex<Vec<(String, Arc<Visits>)>>,
    /// Copies on their way.
    copies: Mutex<Vec<JoinHandle<()>>>,
    /// Updates that got no answer, or 5xx, and were brought again.
    pub(super) repeated: AtomicU64,
    /// Answers that no correct server gives to an update.
    refused: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    pub(super) fn messages(&self) -> Vec<(CustomerMessage, Arc<Visits>)> {
        lock(&self.messages).clone()
    }

    pub(super) fn acknowledged(&self) -> usize {
        lock(&self.messages).iter().filter(|(_, visits)| visits.taken.load(Ordering::Relaxed) > 0).count()
    }

    pub(super) fn poison(&self) -> Vec<(String, Arc<Visits>)> {
        lock(&self.poison).clone()
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

/// One for each chat.
#[derive(Clone)]
pub(super) struct Customer {
    pub(super) stage: Arc<Stage>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) chat: Chat,
}

impl Customer {
    /// Writes one message after the other, or some at once, until told to stop; what was begun is brought to its end.
    pub(super) async fn write_on(self) {
        self.write(0).await;
        let mut round = 0;
        while self.stage.is_pushing.load(Ordering::Acquire) {
            if !self.may_write().await {
                continue;
            }
            round += 1;
            let count = if self.chat.is_hasty { self.stage.draw(|random| random.between(1, AT_ONCE_MAX)) } else { 1 };
            let mut writing = JoinSet::new();
            for _ in 0..count {
                let customer = self.clone();
                writing.spawn(async move { customer.write(round).await });
            }
            writing.join_all().await;
            if self.stage.draw(|random| random.one_in(10)) {
                self.send_poison().await;
            }
            // People think; and so the messages of different chats overtake each other.
            tokio::time::sleep(self.stage.draw(|random| random.millis(0, 600))).await;
        }
    }

    /// False while enough is under way, unless somebody is about to be killed in the middle of this.
    async fn may_write(&self) -> bool {
        if self.stage.inflight.load(Ordering::Acquire) <= OPEN_MAX {
            return true;
        }
        let wait = tokio::time::timeout(Duration::from_millis(20), self.stage.urgent.acquire()).await;
        let Ok(Ok(permit)) = wait else { return false };
        permit.forget();
        true
    }

    /// The first round opens the chat.
    async fn write(&self, round: u32) {
        let n = self.number();
        let said = if round == 0 { HELLO.to_owned() } else { marker(self.stage.seed, n) };
        let update = self.update(self.chat.message(n, &said).to_string().into_bytes());
        let message = CustomerMessage { chat: self.chat, n, said, round };
        lock(&self.ledger.messages).push((message, Arc::clone(&update.visits)));
        self.bring(&update).await;
    }

    async fn send_poison(&self) {
        let n = self.number();
        let marker = poison_marker(n);
        let update = self.update(self.chat.poison(n, &marker));
        lock(&self.ledger.poison).push((marker, Arc::clone(&update.visits)));
        self.bring(&update).await;
    }

    /// Of messages and poison together: from one, because Telegram's are.
    fn number(&self) -> u64 {
        self.ledger.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn update(&self, body: Vec<u8>) -> Update {
        Update { provider: self.chat.provider, body, visits: Arc::default() }
    }

    /// Until it is taken, as a provider does; and some copies, at once or when everybody has forgotten it.
    async fn bring(&self, update: &Update) {
        for _ in 0..self.stage.draw(|random| random.between(0, COPIES_MAX)) {
            let pause = self.stage.draw(|random| if random.one_in(2) { Duration::ZERO } else { random.millis(0, 4_000) });
            let (customer, update) = (self.clone(), update.clone());
            let copy = tokio::spawn(async move {
                tokio::time::sleep(pause).await;
                customer.visit(&update).await;
            });
            lock(&self.ledger.copies).push(copy);
        }
        while !self.visit(update).await {
            self.ledger.repeated.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// At any process that takes webhooks. Whether it was answered, for better or worse: what is refused is not brought again.
    async fn visit(&self, update: &Update) -> bool {
        let bases = self.stage.crew.api_bases();
        let base = self.stage.draw(|random| random.pick(&bases.iter().collect::<Vec<_>>()).cloned());
        let Some(base) = base else { return false };
        let (header, secret) = update.provider.secret();
        let request = self.stage.http.post(format!("{base}{}", update.provider.path())).header(header, secret);
        update.visits.brought.fetch_add(1, Ordering::Relaxed);
        let Ok(answer) = request.header("content-type", "application/json").body(update.body.clone()).send().await else {
            return false;
        };
        let status = answer.status();
        // With its body: an answer that broke off is no answer.
        let Ok(words) = answer.text().await else { return false };
        if status == StatusCode::OK {
            update.visits.taken.fetch_add(1, Ordering::Relaxed);
        } else if status.is_client_error() {
            let body = String::from_utf8_lossy(&update.body).into_owned();
            lock(&self.ledger.refused).push(format!("{status} {words}, to {body}"));
        } else {
            return false;
        }
        true
    }
}
