//! Events: told exactly if what they tell of was committed, and only to those who ask.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn an_event_exists_exactly_if_its_transaction_commits() {
    let world = World::with_webhook().await;
    for is_kept in [false, true] {
        let mut tx = world.test.db.begin(world.workspace).await.unwrap();
        let query = "select ops.emit_event($1, 'post.sent', '{}')";
        let made: i32 = sqlx::query_scalar(query).bind(world.workspace.uuid()).fetch_one(&mut *tx).await.unwrap();
        assert_eq!(made, 1);
        if is_kept {
            tx.commit().await.unwrap();
        } else {
            tx.rollback().await.unwrap();
        }
        assert_eq!(world.drain().await, usize::from(is_kept));
    }
    assert_eq!(world.receiver.seen().len(), 1);
}

#[tokio::test]
async fn a_filter_names_a_type_or_a_kind_or_everything() {
    let world = World::new().await;
    for (name, events) in [("one", &["post.sent"][..]), ("kind", &["post.*"]), ("all", &["*"]), ("two", &["bot.*", "post.lost"])]
    {
        world.add(name, events).await;
    }
    for (event, expected) in [("post.sent", 3), ("post.lost", 3), ("bot.escalated", 2), ("alert.raised", 1), ("poster.sent", 1)] {
        assert_eq!(world.emit(event, json!({})).await, expected, "{event}");
    }
    let ids =
        world.rows("select count(distinct event_id) as ids from ops.webhook_deliveries where event_type = 'post.sent'").await;
    assert_eq!(ids, [json!({ "ids": 1 })], "an event has one id for everyone");
}

#[tokio::test]
async fn events_of_one_workspace_are_not_told_in_another() {
    let world = World::with_webhook().await;
    let other = world.test.workspace("other").await;
    let query = "select ops.emit_event($1, 'post.sent', '{}')";
    let made: i32 = sqlx::query_scalar(query).bind(other.uuid()).fetch_one(world.test.db.pool()).await.unwrap();
    assert_eq!((made, world.statuses().await.as_str()), (0, ""));
    // A transaction of one workspace cannot emit in another either.
    let mut tx = world.test.db.begin(other).await.unwrap();
    let made: i32 = sqlx::query_scalar(query).bind(world.workspace.uuid()).fetch_one(&mut *tx).await.unwrap();
    assert_eq!(made, 0);
}

#[tokio::test]
async fn an_event_with_a_key_is_told_once_to_each_subscription() {
    let world = World::with_webhook().await;
    let emit =
        "ops.emit_events($ws, 'post.sent', array['{\"n\": 1}', '{\"n\": 2}', '{\"n\": 3}']::jsonb[], array['a', 'b', null])";
    assert_eq!(world.ask(emit).await, json!(3));
    assert_eq!(world.ask(emit).await, json!(1), "what has no key is told each time");
    world.add("second", &["post.*"]).await;
    assert_eq!(world.ask(emit).await, json!(4), "a subscription that is new has not heard of it");
    assert_eq!(world.ask("ops.emit_event($ws, 'post.lost', '{}', 'a')").await, json!(2), "a key belongs to its type");
}

#[tokio::test]
async fn a_paused_subscription_collects_events_and_a_disabled_one_gets_none() {
    let world = World::with_webhook().await;
    world.desk.pause(world.workspace, "all", "they move house", "ann").await.unwrap();
    assert_eq!(world.emit("post.sent", json!({})).await, 1);
    assert_eq!(world.drain().await, 0);
    world.desk.enable(world.workspace, "all", "ann").await.unwrap();
    assert_eq!(world.drain().await, 1);
    world.run("update core.webhook_subscriptions set status = 'disabled', stopped_at = now(), stopped_why = 'x'").await;
    assert_eq!(world.emit("post.sent", json!({})).await, 0);
}

#[tokio::test]
async fn data_that_is_too_large_is_cut_and_never_the_reason_that_a_change_fails() {
    let world = World::with_webhook().await;
    let mut data = json!({ "post_id": "p1", "count": 7, "text": "я".repeat(40_000), "list": [1, 2] });
    world.emit("post.sent", data.clone()).await;
    world.drain().await;
    let cut = world.receiver.seen()[0].json()["data"].clone();
    assert_eq!(cut, json!({ "post_id": "p1", "count": 7, "truncated": true }));
    data["text"] = json!("я".repeat(25_000));
    world.emit("post.sent", data.clone()).await;
    world.drain().await;
    assert_eq!(world.receiver.seen()[1].json()["data"], data);
}

#[tokio::test]
async fn nothing_is_sent_while_the_workspace_is_paused() {
    let world = World::with_webhook().await;
    world.emit_many(1).await;
    world.run("update core.workspaces set status = 'paused' where workspace_id = $ws").await;
    assert_eq!(world.drain().await, 0);
    world.run("update core.workspaces set status = 'active' where workspace_id = $ws").await;
    assert_eq!(world.drain().await, 1);
}

#[tokio::test]
async fn whoever_watches_the_webhooks_hears_of_new_deliveries_in_the_transaction_that_makes_them() {
    let world = World::with_webhook().await;
    let heard = "select payload from bus.messages where topic = 'webhooks' and payload ? 'queued'";
    assert_eq!(world.emit("post.sent", json!({})).await, 1);
    assert_eq!(world.rows(heard).await, [json!({ "payload": { "queued": 1 } })]);
    world.run("update core.webhook_subscriptions set events = '{bot.escalated}'").await;
    assert_eq!(world.emit("post.sent", json!({})).await, 0);
    assert_eq!(world.rows(heard).await.len(), 1, "nothing new");
}
