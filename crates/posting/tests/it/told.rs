//! Events that posting tells the outside: in the transaction that makes them true, and only if a subscription asks.

use serde_json::{Value, json};
use testkit::events::{subscribe, told, types};
use uuid::Uuid;

use crate::world::World;

/// Channels `a` and `b`, and a subscription to everything.
async fn two_channels() -> World {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "title = 'News'").await;
    world.channel("b", "telegram", -1002, "").await;
    subscribe(&world.test, world.workspace).await;
    world
}

/// A post whose deliveries are being sent: its id, and theirs in the order of the channels.
async fn begun(world: &World) -> (Uuid, Vec<Uuid>) {
    let post = world.post(json!({ "text": "hello", "tags": ["x"] })).await;
    world.start("w").await;
    let rows = world.rows("select delivery_id from posting.deliveries where status = 'sending' order by channel_id").await;
    let id = |value: &Value| value.as_str().unwrap().parse::<Uuid>().unwrap();
    (id(&post["message_id"]), rows.iter().map(|row| id(&row["delivery_id"])).collect())
}

async fn sent(world: &World, id: Uuid) {
    assert_eq!(world.ask(&format!("select posting.mark_sent($ws, '{id}', '7', null, null, 'w')")).await, json!("sent"));
}

async fn refused(world: &World, id: Uuid, scope: &str) {
    let error = json!({ "category": "PERMANENT", "scope": scope, "code": "403", "message": "kicked out" });
    world.ask(&format!("select posting.fail_permanent($ws, '{id}', '{error}', 'w')")).await;
}

#[tokio::test]
async fn a_post_is_told_of_once_when_its_last_delivery_has_ended() {
    let world = two_channels().await;
    let (post, ids) = begun(&world).await;
    sent(&world, ids[0]).await;
    assert_eq!(types(&world.test).await, "");
    refused(&world, ids[1], "delivery").await;
    let all = told(&world.test).await;
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[0].0, "delivery.failed");
    let expected = json!({ "code": "403", "message": "kicked out" });
    assert_eq!((&all[0].1["channel_id"], &all[0].1["post_id"], &all[0].1["error"]), (&json!("b"), &json!(post), &expected));
    let mut data = all[1].1.clone();
    assert!(data.as_object_mut().unwrap().remove("trace_id").is_some());
    assert_eq!((all[1].0.as_str(), data), ("post.sent", json!({ "post_id": post, "sent": 1, "not_sent": 1, "tags": ["x"] })));
    world.ask(&format!("select count(*) from posting.requeue_failed($ws, array['{}'::uuid], 'ann', 'again')", ids[1])).await;
    world.start("w").await;
    sent(&world, ids[1]).await;
    assert_eq!(types(&world.test).await, "delivery.failed, post.sent", "what is mended later is not told of again");
}

#[tokio::test]
async fn a_post_that_no_channel_has_is_not_told_of_as_sent() {
    let world = two_channels().await;
    let (_, ids) = begun(&world).await;
    for id in ids {
        refused(&world, id, "delivery").await;
    }
    assert_eq!(types(&world.test).await, "delivery.failed, delivery.failed");
}

#[tokio::test]
async fn of_two_transactions_that_end_the_last_two_deliveries_the_second_tells() {
    let world = two_channels().await;
    let (_, ids) = begun(&world).await;
    let query = "select posting.mark_sent($1, $2, '7', null, null, 'w')";
    let mut first = world.test.db.begin_system().await.unwrap();
    sqlx::query(query).bind(world.workspace.uuid()).bind(ids[0]).execute(&mut *first).await.unwrap();
    let second = {
        let (db, workspace, id) = (world.test.db.clone(), world.workspace.uuid(), ids[1]);
        tokio::spawn(async move { sqlx::query(query).bind(workspace).bind(id).execute(db.pool()).await })
    };
    world.test.until_waiting(1).await;
    first.commit().await.unwrap();
    second.await.unwrap().unwrap();
    assert_eq!(types(&world.test).await, "post.sent");
}

#[tokio::test]
async fn a_post_that_is_sent_in_again_after_a_while_is_told_of_again() {
    let world = two_channels().await;
    for _ in 0..2 {
        let (_, ids) = begun(&world).await;
        for id in ids {
            sent(&world, id).await;
        }
        world.advance(8 * 86_400);
    }
    assert_eq!(types(&world.test).await, "post.sent, post.sent");
}

#[tokio::test]
async fn a_delivery_that_uses_up_its_attempts_is_told_of_as_dead() {
    let world = two_channels().await;
    world.run("insert into posting.policies (workspace_id, attempts_max) values ($ws, 1)").await;
    let (_, ids) = begun(&world).await;
    sent(&world, ids[0]).await;
    world.ask(&format!("select posting.schedule_retry($ws, '{}', null, '{{\"code\": \"502\"}}', 'w')", ids[1])).await;
    assert_eq!(types(&world.test).await, "delivery.dead, post.sent");
    let (_, ids) = {
        world.advance(8 * 86_400);
        begun(&world).await
    };
    sent(&world, ids[0]).await;
    world.advance(301);
    world.ask("select posting.expire_leases()").await;
    assert_eq!(
        types(&world.test).await,
        "delivery.dead, post.sent, delivery.dead, post.sent",
        "a worker that died has no attempt left"
    );
}

#[tokio::test]
async fn what_cannot_be_rendered_is_told_of_at_once() {
    let world = two_channels().await;
    world.post(json!({ "text": "ж".repeat(4097) })).await;
    let all = told(&world.test).await;
    assert_eq!((all.len(), all[0].0.as_str(), &all[0].1["error"]["code"]), (2, "delivery.failed", &json!("validation_failed")));
}

#[tokio::test]
async fn a_channel_that_is_paused_by_its_errors_or_by_an_operator_is_told_of() {
    let world = two_channels().await;
    let (_, ids) = begun(&world).await;
    refused(&world, ids[0], "channel").await;
    world.ask("select (posting.pause_channel($ws, 'b', 60, 'ann', 'call anna@example.org')).channel_id").await;
    let paused: Vec<Value> = told(&world.test)
        .await
        .into_iter()
        .filter(|(event_type, _)| event_type == "channel.paused")
        .map(|(_, data)| data)
        .collect();
    assert_eq!(paused.len(), 2);
    let error = json!({ "code": "403", "message": "kicked out" });
    assert_eq!(
        paused[0],
        json!({ "channel_id": "a", "channel": "News", "platform": "telegram", "paused_until": "2026-03-02T10:00:00Z", "enabled": true,
                "error_streak": 1, "error": error })
    );
    assert_eq!((&paused[1]["channel_id"], &paused[1]["reason"]), (&json!("b"), &json!("call [email]")));
}

#[tokio::test]
async fn the_dispatcher_tells_of_posts_that_it_has_sent_and_of_nothing_without_a_subscription() {
    let world = two_channels().await;
    world.run("delete from core.webhook_subscriptions").await;
    world.post(json!({ "text": "one" })).await;
    world.drain().await;
    assert_eq!(types(&world.test).await, "");
    subscribe(&world.test, world.workspace).await;
    world.post(json!({ "text": "two" })).await;
    world.drain().await;
    assert_eq!(types(&world.test).await, "post.sent");
}
