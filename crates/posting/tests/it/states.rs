//! The state machine: what the specification lists is allowed, and the database itself refuses the rest.

use crate::{
    edges::ALLOWED,
    world::{World, code},
};
use serde_json::json;

const STATUSES: [&str; 8] = ["queued", "claimed", "sending", "sent", "retry", "deduped", "failed_permanent", "dead"];

#[tokio::test]
async fn every_pair_of_statuses_is_walked_and_only_the_listed_edges_pass() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world.post(json!({ "text": "one" })).await;
    let mut walked = 0;
    for from in STATUSES {
        for to in STATUSES {
            world.run("delete from posting.deliveries").await;
            world
                .run(&format!(
                    "insert into posting.deliveries (workspace_id, message_id, channel_id, content_hash, status, sent_at)
                     select workspace_id, message_id, 'a', content_hash, '{from}', platform.now() from posting.messages"
                ))
                .await;
            let result = world.try_run(&format!("update posting.deliveries set status = '{to}'")).await;
            let is_allowed = from == to || ALLOWED.contains(&(from, to));
            match result {
                Ok(rows) => assert!(is_allowed && rows == 1, "{from} -> {to} passed"),
                Err(error) => assert!(!is_allowed && code(&error) == "ZP003", "{from} -> {to}: {error}"),
            }
            walked += 1;
        }
    }
    assert_eq!(walked, 64);
}

#[tokio::test]
async fn the_counters_of_a_channel_follow_its_deliveries_whoever_changes_them() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    for n in 0..3 {
        world.post(json!({ "text": format!("post {n}") })).await;
    }
    world.start("worker").await;
    let counters = "select claimed, sending from posting.channel_counters";
    assert_eq!(world.rows(counters).await, [json!({ "claimed": 0, "sending": 3 })]);
    world.run("update posting.deliveries set status = 'retry' where status = 'sending'").await;
    assert_eq!(world.rows(counters).await, [json!({ "claimed": 0, "sending": 0 })]);
    world.start("another").await;
    world
        .run(
            "insert into posting.deliveries (workspace_id, message_id, channel_id, content_hash, status)
             select workspace_id, message_id, 'a', content_hash, 'claimed' from posting.messages limit 2",
        )
        .await;
    assert_eq!(world.rows(counters).await, [json!({ "claimed": 2, "sending": 3 })]);
    world.run("delete from posting.deliveries").await;
    assert_eq!(world.rows(counters).await, [json!({ "claimed": 0, "sending": 0 })]);
}

#[tokio::test]
async fn an_event_is_never_changed_or_removed_and_a_foreign_action_is_refused() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world.post(json!({ "text": "one" })).await;
    assert_eq!(code(&world.try_run("update posting.events set action = 'sent'").await.unwrap_err()), "ZP001");
    assert_eq!(code(&world.try_run("delete from posting.events").await.unwrap_err()), "ZP001");
    let made_up = "insert into posting.events (workspace_id, action, result) values ($ws, 'guessed', 'ok')";
    assert_eq!(code(&world.try_run(made_up).await.unwrap_err()), "23514");
}
