//! Retries: when a delivery is tried again, when it is given up, and what that says of its receiver.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::world::{Reply, World};

/// Moves the clock to the next attempt; how many seconds that were.
async fn until_next(world: &World) -> i64 {
    let at = world.ask("select min(next_attempt_at) from ops.webhook_deliveries where status in ('queued', 'retry')").await;
    let at: Timestamp = at.as_str().unwrap().parse().unwrap();
    let seconds = at.duration_since(world.test.clock.now()).as_secs() + 1;
    world.advance(seconds);
    seconds
}

#[tokio::test]
async fn a_delivery_is_tried_eleven_times_over_a_day_and_then_it_is_dead_and_the_subscription_paused() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(500).body("broken")]);
    world.emit_many(1).await;
    let mut waits = Vec::new();
    for attempt in 1..=11 {
        assert_eq!(world.drain().await, 1, "attempt {attempt}");
        if attempt < 11 {
            assert_eq!(world.statuses().await, "retry");
            waits.push(until_next(&world).await);
        }
    }
    assert_eq!(world.statuses().await, "dead");
    let least = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 32_400];
    for (wait, least) in waits.iter().zip(least) {
        assert!((least..=least * 6 / 5 + 1).contains(wait), "{waits:?}");
    }
    let seen = world.receiver.seen();
    let distinct = |name: &str| seen.iter().map(|seen| seen.header(name)).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!((distinct("webhook-id"), distinct("webhook-timestamp"), distinct("webhook-signature")), (1, 11, 11));
    let subscription = world.subscription("all").await;
    assert_eq!((subscription["status"].as_str(), &subscription["failures"]), (Some("paused"), &json!(11)));
    let why = "every attempt since 2026-03-02 09:00 UTC failed, the last one: status 500";
    assert_eq!(subscription["stopped_why"], why);
    assert_eq!(
        world.rows("select data->>'why' as why from ops.journal where action = 'webhook_paused'").await,
        [json!({ "why": why })]
    );
    let error = world.rows("select source, message from ops.errors").await;
    assert_eq!(error, [json!({ "source": "webhooks", "message": format!("the webhook `all` is paused: {why}") })]);
    world.emit_many(1).await;
    assert_eq!(world.drain().await, 0, "what comes now waits for a person");
}

#[tokio::test]
async fn a_success_forgets_the_failures_before_it() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(500), Reply::status(500), Reply::status(204)]);
    world.emit_many(1).await;
    for failures in [1, 2, 0] {
        world.drain().await;
        let subscription = world.subscription("all").await;
        assert_eq!((&subscription["failures"], subscription["failing_since"].is_null()), (&json!(failures), failures == 0));
        if failures > 0 {
            until_next(&world).await;
        }
    }
    let subscription = world.subscription("all").await;
    assert_eq!((&subscription["delivered"], subscription["status"].as_str()), (&json!(1), Some("active")));
}

#[tokio::test]
async fn a_receiver_that_asks_to_wait_gets_nothing_until_then() {
    let cases = [
        (Reply::status(429).header("retry-after", "300"), 300),
        (Reply::status(503).header("retry-after", "Mon, 02 Mar 2026 09:05:00 GMT"), 300),
        (Reply::status(429), 60),
    ];
    for (reply, seconds) in cases {
        let world = World::with_webhook().await;
        world.add("other", &["*"]).await;
        world.run("update core.webhook_subscriptions set parallel_max = 1").await;
        world.run("update core.webhook_subscriptions set status = 'paused', stopped_at = now(), stopped_why = 'x' where name = 'other'").await;
        world.receiver.reply([reply, Reply::status(204)]);
        world.emit_many(2).await;
        world.drain().await;
        assert_eq!(world.receiver.seen().len(), 1);
        world.desk.enable(world.workspace, "other", "ann").await.unwrap();
        assert_eq!(world.drain().await, 2, "another receiver is not closed");
        world.advance(seconds - 1);
        assert_eq!(world.drain().await, 0);
        world.advance(70);
        assert_eq!(world.drain().await, 2);
        assert_eq!(world.statuses().await, "delivered, delivered, delivered, delivered");
    }
}

#[tokio::test]
async fn a_503_without_a_time_is_a_failure_as_any_other() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(503)]);
    world.emit_many(1).await;
    world.drain().await;
    assert!(world.subscription("all").await["closed_until"].is_null());
    assert_eq!(world.statuses().await, "retry");
}

#[tokio::test]
async fn a_410_disables_the_subscription_for_good() {
    let world = World::with_webhook().await;
    world.run("update core.webhook_subscriptions set parallel_max = 1").await;
    world.receiver.reply([Reply::status(410)]);
    world.emit_many(3).await;
    assert_eq!(world.drain().await, 1);
    assert_eq!(world.statuses().await, "failed, failed, failed");
    let subscription = world.subscription("all").await;
    assert_eq!(
        (subscription["status"].as_str(), subscription["stopped_why"].as_str()),
        (Some("disabled"), Some("the receiver answered 410: it wants no more events"))
    );
    assert_eq!(world.emit("post.sent", json!({})).await, 0);
    let journal = world.rows("select subject from ops.journal where action = 'webhook_disabled'").await;
    assert_eq!(journal, [json!({ "subject": "all" })]);
    world.desk.enable(world.workspace, "all", "ann").await.unwrap();
    assert_eq!(world.emit("post.sent", json!({})).await, 1, "unless a person enables it again");
}

#[tokio::test]
async fn a_subscription_that_fails_is_tried_with_one_delivery_at_a_time() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(500)]);
    world.emit_many(10).await;
    assert_eq!(world.claim("a", 100).await.len(), 4, "the limit of a subscription");
    world.run("update ops.webhook_deliveries set status = 'retry', claim_token = null, claimed_until = null where status = 'sending'").await;
    world.run("update core.webhook_subscriptions set failures = 5, failing_since = platform.now()").await;
    assert_eq!(world.claim("b", 100).await.len(), 1);
    assert_eq!(world.claim("c", 100).await.len(), 0);
}

#[tokio::test]
async fn the_pause_between_tries_of_a_failing_subscription_grows_to_a_minute() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(500)]);
    world.emit_many(12).await;
    let mut pauses = Vec::new();
    for _ in 0..12 {
        let claimed = world.drain().await;
        assert!(claimed >= 1);
        let subscription = world.subscription("all").await;
        if let Some(until) = subscription["closed_until"].as_str() {
            let until: Timestamp = until.parse().unwrap();
            pauses.push(until.duration_since(world.test.clock.now()).as_secs());
            world.advance(pauses[pauses.len() - 1]);
        }
    }
    assert!(pauses.starts_with(&[8, 16, 32, 60, 60]), "{pauses:?}");
}

#[tokio::test]
async fn enabling_a_subscription_sends_at_once_what_it_has_collected() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(500), Reply::status(204)]);
    world.emit_many(1).await;
    world.drain().await;
    world.desk.pause(world.workspace, "all", "look into it", "ann").await.unwrap();
    world.emit_many(2).await;
    world.advance(3600);
    assert_eq!(world.drain().await, 0);
    let enabled = world.desk.enable(world.workspace, "all", "ann").await.unwrap();
    assert_eq!((enabled.status.as_str(), enabled.failures, enabled.stopped_why), ("active", 0, None));
    assert_eq!(world.drain().await, 3);
    assert_eq!(world.statuses().await, "delivered, delivered, delivered");
    let told: Vec<Value> = world.rows("select action from ops.journal where source = 'webhooks' order by id").await;
    assert_eq!(told, ["webhook_added", "webhook_paused", "webhook_enabled"].map(|action| json!({ "action": action })));
}
