//! Leases: which sender may record a result, what a dead one leaves behind, and how many are under way at once.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::World;

/// What a sender with this claim says of an attempt.
async fn record(world: &World, id: Uuid, token: &str, attempt: i32, status: Option<u16>) -> Value {
    let result = json!([{ "delivery_id": id, "claim_token": token, "attempt": attempt, "status": status, "ms": 5 }]);
    world.ask(&format!("select outcome from webhooks.record_results($ws, '{result}')")).await
}

async fn expire(world: &World) -> Value {
    world.ask("webhooks.expire_leases($ws)").await
}

#[tokio::test]
async fn a_sender_that_lost_its_lease_can_change_nothing_and_its_success_is_a_possible_duplicate() {
    let world = World::with_webhook().await;
    world.emit_many(1).await;
    let id = world.claim("slow", 10).await[0];
    world.advance(39);
    assert_eq!(expire(&world).await, json!(0));
    world.advance(2);
    assert_eq!(expire(&world).await, json!(1));
    world.advance(3);
    assert_eq!(world.claim("fresh", 10).await, [id]);
    assert_eq!(world.ask(&format!("webhooks.still_held($ws, '{id}', 'slow')")).await, json!(false));
    assert_eq!(world.ask(&format!("webhooks.still_held($ws, '{id}', 'fresh')")).await, json!(true));
    assert_eq!(record(&world, id, "slow", 1, Some(500)).await, json!("lost"));
    assert_eq!(record(&world, id, "slow", 1, Some(200)).await, json!("possible_duplicate"));
    assert_eq!(record(&world, id, "fresh", 2, Some(200)).await, json!("delivered"));
    assert_eq!(record(&world, id, "fresh", 2, Some(200)).await, json!("repeated"), "after a lost answer to the commit");
    let delivery = world.delivery().await;
    assert_eq!((&delivery["attempt"], &delivery["unknown_outcomes"]), (&json!(2), &json!(1)));
    let log = world.rows("select attempt, outcome from ops.webhook_attempts order by attempt, outcome").await;
    let expected = [(1, "lease_expired"), (1, "possible_duplicate"), (2, "delivered")];
    assert_eq!(log, expected.map(|(attempt, outcome)| json!({ "attempt": attempt, "outcome": outcome })));
    assert_eq!(world.subscription("all").await["delivered"], json!(1));
}

#[tokio::test]
async fn a_late_success_is_taken_if_no_other_sender_has_sent_again() {
    let world = World::with_webhook().await;
    world.emit_many(1).await;
    let id = world.claim("slow", 10).await[0];
    world.advance(41);
    expire(&world).await;
    assert_eq!(record(&world, id, "slow", 1, Some(204)).await, json!("late"));
    world.advance(10);
    assert_eq!((world.drain().await, world.statuses().await.as_str()), (0, "delivered"));
}

#[tokio::test]
async fn a_delivery_whose_senders_die_again_and_again_is_dead_after_its_last_attempt() {
    let world = World::with_webhook().await;
    world.emit_many(1).await;
    for attempt in 1..=11 {
        assert_eq!(world.claim(&format!("crash {attempt}"), 10).await.len(), 1);
        world.advance(41);
        expire(&world).await;
        world.advance(3);
    }
    let delivery = world.delivery().await;
    assert_eq!((delivery["status"].as_str(), &delivery["unknown_outcomes"]), (Some("dead"), &json!(11)));
    let subscription = world.subscription("all").await;
    assert_eq!(subscription["failures"], json!(0), "it says nothing of the receiver");
}

#[tokio::test]
async fn a_sender_takes_over_what_a_dead_one_held() {
    let world = World::with_webhook().await;
    world.emit_many(2).await;
    assert_eq!(world.claim("dead", 10).await.len(), 2);
    assert_eq!(world.drain().await, 0);
    world.advance(41);
    assert_eq!(world.drain().await, 0, "it is tried again in a moment");
    world.advance(3);
    assert_eq!(world.drain().await, 2);
    assert_eq!(world.statuses().await, "delivered, delivered");
}

#[tokio::test]
async fn each_subscription_gets_its_first_delivery_before_any_gets_its_second() {
    let world = World::new().await;
    world.add("busy", &["post.*"]).await;
    world.emit_many(20).await;
    world.add("lonely", &["bot.*"]).await;
    world.advance(1);
    world.emit("bot.escalated", json!({})).await;
    let claimed = world.claim("a", 2).await;
    assert_eq!(claimed.len(), 2);
    let types = world.rows("select event_type from ops.webhook_deliveries where status = 'sending' order by event_type").await;
    assert_eq!(types, ["bot.escalated", "post.sent"].map(|event| json!({ "event_type": event })));
}

#[tokio::test]
async fn two_senders_together_do_not_exceed_the_limit_of_a_subscription() {
    let world = World::with_webhook().await;
    world.emit_many(10).await;
    let query = "select delivery_id from webhooks.claim_deliveries($1, $2, 100, interval '40 seconds')";
    let mut first = world.test.db.begin_system().await.unwrap();
    let claimed: Vec<Uuid> =
        sqlx::query_scalar(query).bind(world.workspace.uuid()).bind("a").fetch_all(&mut *first).await.unwrap();
    assert_eq!(claimed.len(), 4);
    assert!(world.claim("b", 100).await.is_empty(), "the subscription is held by the first");
    first.commit().await.unwrap();
    assert!(world.claim("b", 100).await.is_empty(), "its places are taken");
}

#[tokio::test]
async fn what_is_under_way_for_a_subscription_that_is_removed_fails_unless_it_arrives() {
    for (status, expected) in [(500, "failed"), (200, "delivered")] {
        let world = World::with_webhook().await;
        world.emit_many(1).await;
        let id = world.claim("a", 10).await[0];
        world.desk.remove(world.workspace, "all", "ann").await.unwrap();
        assert_eq!(record(&world, id, "a", 1, Some(status)).await, json!(expected));
    }
}

#[tokio::test]
async fn what_a_dead_sender_held_has_failed_when_its_subscription_was_disabled_meanwhile() {
    let world = World::with_webhook().await;
    world.emit_many(1).await;
    assert_eq!(world.claim("first", 10).await.len(), 1);
    world
        .run("update core.webhook_subscriptions set status = 'disabled', stopped_at = platform.now(), stopped_why = 'gone'")
        .await;
    world.advance(3600);
    assert_eq!(world.ask("webhooks.expire_leases($ws)").await, 1);
    assert_eq!(world.delivery().await["status"], "failed");
}
