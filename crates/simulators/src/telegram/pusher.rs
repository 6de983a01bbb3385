//! Pushes updates to a webhook: those of one chat one at a time and in order, different chats in parallel up to
//! `max_connections`; a failing update blocks its own chat only. The first retry follows at once, then the pauses
//! double. All in provider time, see [`crate::clock`].

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::unix_ms;
use crate::lanes::Lanes;
use crate::params::Params;
use crate::push::{Attempt, Delivery, Push, Report};
use crate::random::scramble;
use crate::simulators::World;
use crate::sync::lock;

use super::bots::Bot;
use super::call::Call;
use super::methods;

const READ_TIMEOUT: Duration = Duration::from_mins(1);
const EXPIRY: Duration = Duration::from_hours(24);
const GONE_EXPIRY: Duration = Duration::from_hours(23);
const RETRY_AFTER_SECONDS_MAX: u64 = 3600;
const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";

pub(super) struct Webhook {
    pub(super) url: String,
    pub(super) secret: Option<String>,
    pub(super) connections: usize,
    pub(super) certificate: bool,
    /// Cancelled when the webhook is replaced or deleted.
    pub(super) stop: CancellationToken,
    permits: Semaphore,
    lanes: Lanes<(i64, Report)>,
    /// Since when it answers 410 and nothing else.
    gone_since: Mutex<Option<Instant>>,
    /// A test broke it: nothing is pushed, every attempt fails with this error.
    pub(super) broken: Mutex<Option<String>>,
}

impl Webhook {
    pub(super) fn new(url: String, secret: Option<String>, connections: usize, certificate: bool) -> Self {
        Self {
            url,
            secret,
            connections,
            certificate,
            stop: CancellationToken::new(),
            permits: Semaphore::new(connections),
            lanes: Lanes::default(),
            gone_since: Mutex::default(),
            broken: Mutex::default(),
        }
    }
}

/// Queues a pending update, named by its lane and id, for delivery.
pub(super) fn enqueue(world: &Arc<World>, bot: &Arc<Bot>, webhook: &Arc<Webhook>, (lane, update_id): (i64, i64), report: Report) {
    if webhook.lanes.push(lane, (update_id, report)) {
        tokio::spawn(run_lane(Arc::clone(world), Arc::clone(bot), Arc::clone(webhook), lane));
    }
}

async fn run_lane(world: Arc<World>, bot: Arc<Bot>, webhook: Arc<Webhook>, lane: i64) {
    let work = async {
        while let Some((update_id, report)) = webhook.lanes.next(lane) {
            deliver(&world, &bot, &webhook, update_id, report).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = webhook.stop.cancelled() => {}
    }
}

async fn deliver(world: &Arc<World>, bot: &Arc<Bot>, webhook: &Webhook, update_id: i64, mut report: Report) {
    let mut attempts = 0;
    loop {
        let pending = lock(&bot.inbox).pending.get(&update_id).map(|pending| (pending.body.clone(), pending.born));
        // Dropped meanwhile, by drop_pending_updates for one.
        let Some((body, born)) = pending else { return };
        let attempt = {
            let _permit = webhook.permits.acquire().await;
            let secret = webhook.secret.as_deref().map(|secret| (SECRET_HEADER, secret));
            let broken = lock(&webhook.broken).clone();
            match broken {
                Some(error) => Attempt::Failed(error),
                None => world.pusher.call(Push { url: &webhook.url, secret, timeout: READ_TIMEOUT, body }).await,
            }
        };
        attempts += 1;
        let (status, retry_after, error) = match attempt {
            Attempt::Answered { status, body, .. } if status.is_success() => {
                lock(&bot.inbox).pending.remove(&update_id);
                *lock(&webhook.gone_since) = None;
                run_answer(world, bot, &body);
                report.settle(Delivery { delivered: true, status: Some(status.as_u16()), error: None, attempts });
                return;
            }
            Attempt::Answered { status, retry_after, .. } => {
                (Some(status.as_u16()), retry_after, format!("Wrong response from the webhook: {status}"))
            }
            Attempt::Failed(cause) => (None, None, cause),
        };
        lock(&bot.inbox).last_error = Some((unix_ms() / 1000, error.clone()));
        let delivery = Delivery { delivered: false, status, error: Some(error), attempts };
        if world.clock.since(born) >= EXPIRY {
            lock(&bot.inbox).pending.remove(&update_id);
            report.settle(delivery);
            return;
        }
        if is_gone_for_good(world, webhook, status) {
            report.settle(delivery);
            let mut inbox = lock(&bot.inbox);
            // Another one may have been set meanwhile: that one stays.
            if inbox.webhook.as_deref().is_some_and(|current| std::ptr::eq(current, webhook)) {
                inbox.webhook = None;
            }
            webhook.stop.cancel();
            return;
        }
        report.attempt(&delivery);
        world.clock.sleep(pause(attempts, retry_after, update_id)).await;
    }
}

/// 410 for 23 hours takes the webhook away.
fn is_gone_for_good(world: &World, webhook: &Webhook, status: Option<u16>) -> bool {
    let mut gone_since = lock(&webhook.gone_since);
    if status != Some(410) {
        *gone_since = None;
        return false;
    }
    let since = *gone_since.get_or_insert_with(Instant::now);
    world.clock.since(since) >= GONE_EXPIRY
}

/// Nothing after the first failure, then 2, 4, 8 … seconds up to a random cap of 60 to 120.
fn pause(attempts: u32, retry_after: Option<u64>, update_id: i64) -> Duration {
    if let Some(seconds) = retry_after {
        return Duration::from_secs(seconds.min(RETRY_AFTER_SECONDS_MAX));
    }
    let cap = 60 + scramble(update_id.unsigned_abs()) % 61;
    match attempts {
        0 | 1 => Duration::ZERO,
        more => Duration::from_secs(2_u64.saturating_pow(more - 1).min(cap)),
    }
}

/// A webhook may answer with a method call; its result is not reported to anybody.
fn run_answer(world: &Arc<World>, bot: &Arc<Bot>, body: &[u8]) {
    let Ok(params) = serde_json::from_slice::<Params>(body) else {
        return;
    };
    let Some(method) = params.text("method").and_then(|name| methods::find(&name)) else {
        return;
    };
    let mut call = Call::new(Arc::clone(world), Arc::clone(bot), method, params, Vec::new());
    let (status, error) = match methods::run_at_once(&mut call) {
        Ok(_) => (200, None),
        Err(refusal) => (refusal.status, Some(refusal.description)),
    };
    call.note_served(status, error.as_deref());
}

#[cfg(test)]
mod tests {
    use super::pause;

    #[test]
    fn the_first_retry_is_immediate_and_later_ones_double_up_to_a_cap() {
        let seconds: Vec<u64> = (1..=10).map(|attempts| pause(attempts, None, 5).as_secs()).collect();
        assert_eq!(seconds[..6], [0, 2, 4, 8, 16, 32]);
        assert!(seconds[7..].iter().all(|pause| (60..=120).contains(pause)), "{seconds:?}");
        assert_eq!(pause(1, Some(9_999), 5).as_secs(), 3600);
    }
}
