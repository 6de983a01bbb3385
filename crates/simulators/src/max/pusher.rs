//! Pushes updates to subscriptions. Exactly 200 is a success; then up to ten retries, 60 s × 2.5ⁿ apart; eight
//! hours without a success end the subscription. All in provider time, see [`crate::clock`].
//!
//! Order and parallelism are not documented. Here the first attempts of one chat go out in order, and an update
//! that failed retries by itself: hours of retries would otherwise hold back the whole chat.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::unix_ms;
use crate::lanes::Lanes;
use crate::push::{Attempt, Delivery, Push, Report};
use crate::simulators::World;
use crate::sync::lock;

use super::bots::Bot;
use super::subscriptions::drop_subscription;

const TIMEOUT: Duration = Duration::from_secs(30);
const RETRIES_MAX: u32 = 10;
const FIRST_PAUSE_SECONDS: f64 = 60.0;
const PAUSE_GROWTH: f64 = 2.5;
const PATIENCE: Duration = Duration::from_hours(8);
const SECRET_HEADER: &str = "x-max-bot-api-secret";

pub(super) struct Subscription {
    pub(super) url: String,
    pub(super) secret: Option<String>,
    pub(super) types: Option<Vec<String>>,
    pub(super) time: i64,
    pub(super) stop: CancellationToken,
    lanes: Lanes<Job>,
    last_success: Mutex<Instant>,
}

struct Job {
    body: Bytes,
    report: Report,
}

impl Subscription {
    pub(super) fn new(url: String, secret: Option<String>, types: Option<Vec<String>>) -> Self {
        Self {
            url,
            secret,
            types,
            time: unix_ms(),
            stop: CancellationToken::new(),
            lanes: Lanes::default(),
            last_success: Mutex::new(Instant::now()),
        }
    }

    pub(super) fn wants(&self, kind: &str) -> bool {
        self.types.as_ref().is_none_or(|types| types.iter().any(|wanted| wanted == kind))
    }
}

pub(super) fn enqueue(
    world: &Arc<World>,
    bot: &Arc<Bot>,
    subscription: &Arc<Subscription>,
    (lane, body): (i64, Bytes),
    report: Report,
) {
    if subscription.lanes.push(lane, Job { body, report }) {
        tokio::spawn(run_lane(Arc::clone(world), Arc::clone(bot), Arc::clone(subscription), lane));
    }
}

async fn run_lane(world: Arc<World>, bot: Arc<Bot>, subscription: Arc<Subscription>, lane: i64) {
    let work = async {
        while let Some(mut job) = subscription.lanes.next(lane) {
            let delivery = attempt(&world, &subscription, &job, 1).await;
            if delivery.delivered {
                job.report.settle(delivery);
            } else {
                job.report.attempt(&delivery);
                tokio::spawn(retry(Arc::clone(&world), Arc::clone(&bot), Arc::clone(&subscription), job, delivery));
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = subscription.stop.cancelled() => {}
    }
}

async fn retry(world: Arc<World>, bot: Arc<Bot>, subscription: Arc<Subscription>, mut job: Job, mut delivery: Delivery) {
    let work = async {
        for retries in 0..RETRIES_MAX {
            let silence = world.clock.since(*lock(&subscription.last_success));
            let patience = PATIENCE.saturating_sub(silence);
            let pause = Duration::from_secs_f64(FIRST_PAUSE_SECONDS * PAUSE_GROWTH.powi(retries.cast_signed()));
            world.clock.sleep(pause.min(patience)).await;
            if world.clock.since(*lock(&subscription.last_success)) >= PATIENCE {
                break;
            }
            delivery = attempt(&world, &subscription, &job, retries + 2).await;
            if delivery.delivered {
                job.report.settle(delivery);
                return;
            }
        }
        if world.clock.since(*lock(&subscription.last_success)) >= PATIENCE {
            drop_subscription(&mut lock(&bot.inbox).subscriptions, &subscription.url);
        }
        job.report.settle(delivery);
    };
    tokio::select! {
        biased;
        () = work => {}
        () = subscription.stop.cancelled() => {}
    }
}

async fn attempt(world: &World, subscription: &Subscription, job: &Job, attempts: u32) -> Delivery {
    let secret = subscription.secret.as_deref().map(|secret| (SECRET_HEADER, secret));
    let push = Push { url: &subscription.url, secret, timeout: TIMEOUT, body: job.body.clone() };
    match world.pusher.call(push).await {
        Attempt::Answered { status, .. } if status.as_u16() == 200 => {
            *lock(&subscription.last_success) = Instant::now();
            Delivery { delivered: true, status: Some(200), error: None, attempts }
        }
        Attempt::Answered { status, .. } => {
            let error = Some(format!("Wrong response from the webhook: {status}"));
            Delivery { delivered: false, status: Some(status.as_u16()), error, attempts }
        }
        Attempt::Failed(cause) => Delivery { delivered: false, status: None, error: Some(cause.clone()), attempts },
    }
}
