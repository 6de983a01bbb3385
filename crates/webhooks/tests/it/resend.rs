//! Sending again what a person asks for.

use serde_json::json;
use uuid::Uuid;

use crate::world::{Reply, World};

#[tokio::test]
async fn a_resend_is_a_new_delivery_with_an_id_of_its_own_that_names_the_old_one() {
    let world = World::with_webhook().await;
    world.emit("post.sent", json!({ "post_id": "p1" })).await;
    world.drain().await;
    let old = world.delivery().await;
    let id = |value: &serde_json::Value| value.as_str().unwrap().parse::<Uuid>().unwrap();
    world.advance(60);
    let new = world.desk.resend(world.workspace, id(&old["delivery_id"]), "ann").await.unwrap();
    world.drain().await;
    let seen = world.receiver.seen();
    assert_eq!(seen.len(), 2);
    assert_ne!(seen[0].header("webhook-id"), seen[1].header("webhook-id"), "a receiver that has seen it would drop it");
    let mut expected = seen[0].json();
    expected["resend_of"] = old["event_id"].clone();
    assert_eq!(seen[1].json(), expected, "the event is as old as it was");
    let row = world.rows(&format!("select resend_of, status from ops.webhook_deliveries where delivery_id = '{new}'")).await;
    assert_eq!(row, [json!({ "resend_of": old["delivery_id"], "status": "delivered" })]);
    let journal = world.rows("select data from ops.journal where action = 'webhook_resent'").await;
    assert_eq!(journal, [json!({ "data": { "delivery_id": new, "resend_of": old["delivery_id"], "by": "ann" } })]);
}

#[tokio::test]
async fn what_goes_on_by_itself_or_cannot_be_sent_is_not_sent_again() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(500), Reply::status(204)]);
    world.emit_many(1).await;
    world.drain().await;
    let id: Uuid = world.delivery().await["delivery_id"].as_str().unwrap().parse().unwrap();
    let refused = async || world.desk.resend(world.workspace, id, "ann").await.unwrap_err();
    let problem = refused().await;
    assert_eq!((problem.status, problem.code), (409, "webhook.status"));
    assert!(problem.message.contains("is retry and goes on by itself"), "{}", problem.message);
    world.advance(60);
    world.drain().await;
    world.desk.pause(world.workspace, "all", "closed", "ann").await.unwrap();
    assert_eq!(refused().await.message, "the webhook `all` is paused: closed; enable it first");
    world.desk.remove(world.workspace, "all", "ann").await.unwrap();
    assert_eq!(refused().await.status, 404);
    assert_eq!(world.desk.resend(world.workspace, Uuid::nil(), "ann").await.unwrap_err().status, 404);
    let other = world.test.workspace("other").await;
    assert_eq!(world.desk.resend(other, id, "eve").await.unwrap_err().status, 404, "another workspace has no such delivery");
}

#[tokio::test]
async fn a_test_goes_to_one_subscription_and_ignores_its_filter() {
    let world = World::with_webhook().await;
    world.add("posts", &["post.lost"]).await;
    world.desk.test(world.workspace, "posts", "ann").await.unwrap();
    assert_eq!(world.drain().await, 1);
    let seen = &world.receiver.seen()[0];
    let body = seen.json();
    assert_eq!((seen.path.as_str(), &body["type"], &body["data"]["name"]), ("/posts", &json!("webhook.test"), &json!("posts")));
    let problem = world.desk.test(world.workspace, "post", "ann").await.unwrap_err();
    assert_eq!((problem.status, problem.message.as_str()), (404, "there is no webhook `post`; there are: posts, all"));
}
