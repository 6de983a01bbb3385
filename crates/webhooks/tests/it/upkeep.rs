//! Retention.

use serde_json::json;

use crate::world::World;

const DAY: i64 = 86_400;

#[tokio::test]
async fn what_has_ended_is_forgotten_after_thirty_days() {
    let world = World::with_webhook().await;
    world.emit_many(3).await;
    world.drain().await;
    world.advance(29 * DAY);
    platform::retention::run(&world.test.db, &webhooks::retention()).await.unwrap();
    assert_eq!(world.statuses().await, "delivered, delivered, delivered");
    world.advance(2 * DAY);
    platform::retention::run(&world.test.db, &webhooks::retention()).await.unwrap();
    assert_eq!(world.statuses().await, "");
}

#[tokio::test]
async fn what_a_paused_subscription_has_collected_for_a_week_is_dead() {
    let world = World::with_webhook().await;
    world.desk.pause(world.workspace, "all", "on holiday", "ann").await.unwrap();
    world.emit_many(1).await;
    world.advance(6 * DAY);
    world.emit_many(1).await;
    world.advance(2 * DAY);
    platform::retention::run(&world.test.db, &webhooks::retention()).await.unwrap();
    assert_eq!(world.statuses().await, "dead, queued");
    let words = world.rows("select last_error from ops.webhook_deliveries where status = 'dead'").await;
    assert_eq!(words, [json!({ "last_error": "it waited for a week and was not delivered" })]);
}
