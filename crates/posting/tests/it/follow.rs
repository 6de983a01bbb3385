//! Edits and deletions follow a post to every channel where it was delivered.

use serde_json::{Value, json};

use crate::world::World;

async fn delivered() -> (World, Value) {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world.channel("m", "max", -2001, "").await;
    let done = world.post(json!({ "text": "with a tpyo", "tags": ["x"] })).await;
    world.drain().await;
    (world, done["message_id"].clone())
}

async fn follow(world: &World, message_id: &Value, operation: &str, raw: Value) -> Value {
    let query =
        format!("select posting.follow_post($ws, '{}', '{operation}', '{raw}', 'trace', 'me')", message_id.as_str().unwrap());
    world.ask(&query).await
}

async fn edits(world: &World) -> Vec<(String, String)> {
    let rows =
        world.rows("select operation, status from posting.deliveries order by created_at, operation desc, channel_id").await;
    rows.iter().map(|row| (row["operation"].as_str().unwrap().to_owned(), row["status"].as_str().unwrap().to_owned())).collect()
}

#[tokio::test]
async fn an_edit_reaches_every_channel_as_a_delivery_of_its_own() {
    let (world, id) = delivered().await;
    let done = follow(&world, &id, "edit", json!({ "text": "without a typo" })).await;
    assert_eq!(done["deliveries"], json!({ "queued": 2 }));
    world.drain().await;
    assert!(edits(&world).await.iter().all(|(_, status)| status == "sent"), "{:?}", edits(&world).await);
    for (provider, target) in [("telegram", -1001), ("max", -2001)] {
        let calls = world.sent(provider, target).await;
        assert!(calls.last().unwrap().to_string().contains("without a typo"), "{provider}: {calls:?}");
    }
    // Back and forth: an edit is never suppressed as a copy of an earlier one.
    follow(&world, &id, "edit", json!({ "text": "third" })).await;
    world.drain().await;
    assert_eq!(follow(&world, &id, "edit", json!({ "text": "without a typo" })).await["deliveries"], json!({ "queued": 2 }));
    world.drain().await;
    assert!(edits(&world).await.iter().all(|(_, status)| status == "sent"));
}

#[tokio::test]
async fn an_edit_is_retried_and_never_overtakes_an_earlier_one() {
    let (world, id) = delivered().await;
    world.fault("telegram", -1001, json!({ "method": "editMessageText", "status": 500, "times": 1 })).await;
    follow(&world, &id, "edit", json!({ "text": "second" })).await;
    world.advance(1);
    follow(&world, &id, "edit", json!({ "text": "third" })).await;
    world.drain().await;
    let waiting = world.rows("select posting.waiting_for(d)->>'reason' as reason from posting.deliveries d where channel_id = 'a' and phase = 'inflight' order by created_at").await;
    assert_eq!(waiting, [json!({ "reason": "next_retry" }), json!({ "reason": "follows" })]);
    world.advance(60);
    world.drain().await;
    let calls = world.sent("telegram", -1001).await;
    assert!(calls.last().unwrap().to_string().contains("third"), "{calls:?}");
    assert_eq!(
        world
            .ask(
                "select attempt from posting.deliveries where operation = 'edit' and channel_id = 'a' order by created_at limit 1"
            )
            .await,
        json!(2)
    );
}

#[tokio::test]
async fn a_deletion_removes_every_message_and_withdraws_what_was_not_sent() {
    let (world, id) = delivered().await;
    world.run("update posting.deliveries set status = 'sent'").await;
    world.channel("late", "telegram", -1003, "paused_until = platform.now() + interval '1 hour'").await;
    world.run("update posting.channels set dedup_ttl_hours = 0").await;
    world.advance(1);
    world.post(json!({ "text": "with a tpyo", "tags": ["x"] })).await;
    let done = follow(&world, &id, "delete", json!({})).await;
    assert_eq!(done["withdrawn"], json!(3), "{done}");
    assert_eq!(done["deliveries"], json!({ "queued": 2 }));
    world.drain().await;
    let calls = world.sent("telegram", -1001).await;
    assert!(calls.last().unwrap().to_string().contains("deleteMessage"), "{calls:?}");
    assert_eq!(world.sent("telegram", -1003).await.len(), 0);
    assert_eq!(follow(&world, &id, "delete", json!({})).await["deliveries"], json!({}), "gone is gone");
    assert_eq!(world.events("action = 'withdrawn'").await.len(), 3);
}

#[tokio::test]
async fn an_edit_of_a_post_that_waits_is_sent_after_it_and_one_that_failed_is_told() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "paused_until = platform.now() + interval '1 hour'").await;
    let done = world.post(json!({ "text": "first" })).await;
    follow(&world, &done["message_id"], "edit", json!({ "text": "second" })).await;
    world.advance(3601);
    world.drain().await;
    let methods: Vec<Value> = world.sent("telegram", -1001).await.iter().map(|call| call["method"].clone()).collect();
    assert_eq!(methods, ["sendMessage", "editMessageText"]);
    world.control("chats", json!({ "provider": "telegram", "target": "-1001", "state": "kicked" })).await;
    let done = world.post(json!({ "text": "never arrives" })).await;
    world.advance(1);
    follow(&world, &done["message_id"], "edit", json!({ "text": "edited" })).await;
    world.drain().await;
    world.advance(3601);
    world.drain().await;
    let last = world.deliveries().await.pop().unwrap();
    assert_eq!(last.last_error.unwrap()["code"], "nothing_to_change");
}

#[tokio::test]
async fn an_edit_that_does_not_fit_how_the_post_was_sent_is_refused_at_once() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let media = json!([{ "type": "image", "url": "https://e.org/1.png" }, { "type": "image", "url": "https://e.org/2.png" }]);
    let done = world.post(json!({ "text": "short", "media": media })).await;
    world.drain().await;
    let long = follow(&world, &done["message_id"], "edit", json!({ "text": "x".repeat(1100) })).await;
    assert_eq!(long["deliveries"], json!({ "failed_permanent": 1 }));
    let fits = follow(&world, &done["message_id"], "edit", json!({ "text": "short too" })).await;
    assert_eq!(fits["deliveries"], json!({ "queued": 1 }));
    world.drain().await;
    assert!(world.sent("telegram", -1001).await.last().unwrap().to_string().contains("editMessageCaption"));
}
