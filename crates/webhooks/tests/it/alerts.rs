//! What people are told of webhooks that bring nothing any more.

use platform::alerts::{self, StorageLimits};
use serde_json::{Value, json};
use webhooks::alerts::ALERTS;

use crate::world::{Reply, World};

const DAY: i64 = 86_400;

/// What is wrong now: the alert, its subject, how often, and why.
async fn trouble(world: &World) -> Vec<Value> {
    alerts::check(&world.test.db, &[ALERTS], &StorageLimits::default()).await;
    world.rows("select alert, subject, count, why from ops.alerts where cleared_at is null order by alert, subject").await
}

#[tokio::test]
async fn a_webhook_that_the_system_stopped_is_an_alert_until_a_person_enables_it() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(410), Reply::status(204)]);
    world.emit_many(1).await;
    assert!(trouble(&world).await.is_empty());
    world.drain().await;
    let why = "the receiver answered 410: it wants no more events";
    let stopped = json!({ "alert": "stopped_webhooks", "subject": "all", "count": 1, "why": why });
    assert_eq!(trouble(&world).await, [stopped]);
    world.desk.enable(world.workspace, "all", "ann").await.unwrap();
    assert!(trouble(&world).await.is_empty());
}

#[tokio::test]
async fn a_webhook_that_a_person_paused_is_no_trouble() {
    let world = World::with_webhook().await;
    world.desk.pause(world.workspace, "all", "on holiday", "ann").await.unwrap();
    assert!(trouble(&world).await.is_empty());
    assert_eq!(world.subscription("all").await["stopped_by"], "ann");
}

#[tokio::test]
async fn deliveries_that_were_given_up_are_an_alert_for_a_day() {
    let world = World::with_webhook().await;
    world.desk.pause(world.workspace, "all", "on holiday", "ann").await.unwrap();
    world.emit_many(2).await;
    world.advance(8 * DAY);
    platform::retention::run(&world.test.db, &webhooks::retention()).await.unwrap();
    let why = "it waited for a week and was not delivered";
    assert_eq!(trouble(&world).await, [json!({ "alert": "dead_events", "subject": "all", "count": 2, "why": why })]);
    world.advance(DAY + 1);
    assert!(trouble(&world).await.is_empty());
}

#[tokio::test]
async fn what_was_stopped_before_it_was_written_down_who_did_it_is_known_by_the_journal() {
    let world = World::with_webhook().await;
    world.add("gone", &["bot.escalated"]).await;
    world.desk.pause(world.workspace, "all", "on holiday", "ann").await.unwrap();
    world.receiver.reply([Reply::status(410)]);
    world.emit("bot.escalated", json!({})).await;
    world.drain().await;
    let migration = platform::SQL.migrations.iter().find(|file| file.name == "0014_stopped_by").unwrap();
    world.run("drop index ops.webhook_deliveries_dead").await;
    world.run("alter table core.webhook_subscriptions drop stopped_by cascade").await;
    sqlx::raw_sql(migration.text).execute(&mut world.test.owner().await).await.unwrap();
    let stopped = world.rows("select name, stopped_by from core.webhook_subscriptions order by name").await;
    assert_eq!(stopped, [json!({ "name": "all", "stopped_by": "ann" }), json!({ "name": "gone", "stopped_by": null })]);
}
