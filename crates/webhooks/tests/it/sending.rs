//! Sending: what a request looks like, where it may go, and what is written down of the answer.

use std::time::Duration;

use jiff::Timestamp;
use outbound::{FetchSettings, Fetcher};
use serde_json::json;
use webhooks::{manage::OVERLAP, signature::SigningKey};

use crate::world::{Receiver, Reply, World};

#[tokio::test]
async fn a_delivery_is_one_signed_post_of_type_timestamp_and_data() {
    let world = World::new().await;
    let secret = world.add("all", &["*"]).await.secret.unwrap();
    world.emit("post.sent", json!({ "post_id": "p1", "текст": "привет" })).await;
    assert_eq!(world.drain().await, 1);
    let seen = &world.receiver.seen()[0];
    assert_eq!((seen.path.as_str(), seen.header("content-type").as_str()), ("/all", "application/json"));
    assert_eq!(
        seen.json(),
        json!({ "type": "post.sent", "timestamp": "2026-03-02T09:00:00.000Z", "data": { "post_id": "p1", "текст": "привет" } })
    );
    let delivery = world.delivery().await;
    assert_eq!((delivery["status"].as_str(), &delivery["body"]), (Some("delivered"), &json!(seen.body)));
    assert_eq!(seen.header("webhook-id"), delivery["event_id"].as_str().unwrap());
    let timestamp = world.test.clock.now().as_second();
    assert_eq!(seen.header("webhook-timestamp"), timestamp.to_string());
    let signature = SigningKey::parse(&secret).unwrap().sign(&seen.header("webhook-id"), timestamp, &seen.body);
    assert_eq!(seen.header("webhook-signature"), signature);
}

#[tokio::test]
async fn every_2xx_is_success_and_nothing_else_is() {
    let world = World::with_webhook().await;
    for (status, expected) in
        [(200, "delivered"), (202, "delivered"), (299, "delivered"), (304, "retry"), (400, "retry"), (500, "retry")]
    {
        world.run("delete from ops.webhook_deliveries").await;
        world.receiver.reply([Reply::status(status)]);
        world.emit_many(1).await;
        assert_eq!(world.drain().await, 1);
        let delivery = world.delivery().await;
        assert_eq!((delivery["status"].as_str(), &delivery["last_status"]), (Some(expected), &json!(status)));
    }
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_leads_nowhere() {
    let world = World::with_webhook().await;
    let elsewhere = Receiver::start().await;
    world.receiver.reply([Reply::status(307).header("location", format!("{}/x", elsewhere.base))]);
    world.emit_many(1).await;
    world.drain().await;
    let delivery = world.delivery().await;
    assert_eq!((delivery["status"].as_str(), &delivery["last_status"]), (Some("retry"), &json!(307)));
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn an_inner_address_is_asked_for_nothing_unless_it_is_allowed() {
    let world = World::new().await;
    for (name, url) in
        [("loopback", "http://127.0.0.1:8080/"), ("metadata", "http://169.254.169.254/latest"), ("name", "http://localhost/")]
    {
        world.add_at(name, &["*"], url).await;
    }
    world.emit_many(1).await;
    assert_eq!(world.drain().await, 3);
    for row in world.rows("select status, last_status, last_error, unknown_outcomes from ops.webhook_deliveries").await {
        let words = "the address cannot be reached: check its spelling, and that the internet can open it";
        assert_eq!(row, json!({ "status": "retry", "last_status": null, "last_error": words, "unknown_outcomes": 0 }));
    }
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_in_time_has_failed_and_may_have_the_event() {
    let world = World::new().await;
    world.add_at("silent", &["*"], &format!("{}/silent", world.receiver.base)).await;
    world.emit_many(1).await;
    let settings =
        FetchSettings { deadline: Duration::from_millis(300), allow: vec![world.receiver.host()], ..FetchSettings::default() };
    assert_eq!(world.drain_with(Fetcher::new(settings).unwrap()).await, 1);
    let delivery = world.delivery().await;
    assert_eq!((delivery["status"].as_str(), &delivery["unknown_outcomes"]), (Some("retry"), &json!(1)));
    assert_eq!(delivery["last_error"], "the address did not answer in time");
    assert_eq!(world.receiver.seen().len(), 1);
}

#[tokio::test]
async fn a_port_that_is_closed_was_certainly_not_told() {
    let world = World::new().await;
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    world.add_at("closed", &["*"], &format!("{}/", world.receiver.base)).await;
    world.run(&format!("update core.webhook_subscriptions set url = 'http://{closed}/'")).await;
    world.emit_many(1).await;
    world.drain_with(webhooks::sender::fetcher(vec![closed]).unwrap()).await;
    let delivery = world.delivery().await;
    assert_eq!((delivery["status"].as_str(), &delivery["unknown_outcomes"]), (Some("retry"), &json!(0)));
}

#[tokio::test]
async fn the_log_has_status_time_and_the_redacted_beginning_of_the_answer() {
    let world = World::with_webhook().await;
    let answer = format!("write to anna@example.org {}", "x".repeat(100_000));
    world.receiver.reply([Reply::status(500).body(answer), Reply::status(200).body("thanks")]);
    world.emit_many(1).await;
    world.drain().await;
    let delivery = world.delivery().await;
    let kept = delivery["last_answer"].as_str().unwrap();
    assert!(kept.starts_with("write to [email] xxx") && kept.chars().count() == 500, "{kept}");
    assert!(delivery["last_ms"].as_i64().is_some());
    world.advance(10);
    world.drain().await;
    let attempts = world.rows("select attempt, outcome, status, left(answer, 16) as answer, ms >= 0 as has_time from ops.webhook_attempts order by attempt").await;
    assert_eq!(
        attempts,
        [
            json!({ "attempt": 1, "outcome": "retry", "status": 500, "answer": "write to [email]", "has_time": true }),
            json!({ "attempt": 2, "outcome": "delivered", "status": 200, "answer": "thanks", "has_time": true }),
        ]
    );
}

#[tokio::test]
async fn a_secret_that_cannot_be_used_keeps_the_events_until_it_is_mended() {
    let world = World::with_webhook().await;
    let path = world.files.path().join("my.secret");
    std::fs::write(&path, "hunter2").unwrap();
    world.run(&format!("update core.webhook_subscriptions set secret_ref = 'file:{}'", path.display())).await;
    world.emit_many(1).await;
    world.drain().await;
    let delivery = world.delivery().await;
    let words = delivery["last_error"].as_str().unwrap();
    assert!(words.contains("whsec_") && !words.contains("hunter2"), "{words}");
    assert!(world.receiver.seen().is_empty());
    std::fs::write(&path, webhooks::signature::new_secret().expose()).unwrap();
    world.advance(10);
    let fresh = webhooks::sender::WebhookDeliveries { secrets: platform::secrets::Secrets::default(), ..world.tools.clone() };
    webhooks::WebhookSender::new(fresh, platform::outbox::OutboxLimits::of(8)).drain().await.unwrap();
    assert_eq!(world.statuses().await, "delivered");
}

#[tokio::test]
async fn during_a_rotation_both_secrets_sign_and_after_it_only_the_new_one() {
    let world = World::new().await;
    let old = SigningKey::parse(&world.add("all", &["*"]).await.secret.unwrap()).unwrap();
    let rotated = world.desk.rotate(world.workspace, "all", None, OVERLAP, "ann").await.unwrap();
    let new = SigningKey::parse(&rotated.secret.unwrap()).unwrap();
    let until = rotated.subscription.old_secret_until.unwrap().to_jiff();
    assert_eq!(until, "2026-03-03T09:00:00Z".parse::<Timestamp>().unwrap());
    for hours in [0, 25] {
        world.advance(hours * 3600);
        world.emit_many(1).await;
        world.drain().await;
        let seen = world.receiver.seen().pop().unwrap();
        let timestamp = world.test.clock.now().as_second();
        let sign = |key: &SigningKey| key.sign(&seen.header("webhook-id"), timestamp, &seen.body);
        let expected = if hours == 0 { format!("{} {}", sign(&new), sign(&old)) } else { sign(&new) };
        assert_eq!(seen.header("webhook-signature"), expected);
    }
}

#[tokio::test]
async fn a_result_that_cannot_be_recorded_does_not_make_the_others_be_sent_again() {
    let world = World::with_webhook().await;
    world.emit_many(3).await;
    world
        .run(
            "create function ops.refuse_the_second() returns trigger language plpgsql as $$ begin
                  raise exception 'this row cannot be written' using errcode = 'check_violation'; end $$",
        )
        .await;
    world
        .run(
            "create trigger refuse_the_second before update on ops.webhook_deliveries for each row
                  when (new.status <> 'sending' and new.body like '%\"n\": 1%') execute function ops.refuse_the_second()",
        )
        .await;
    world.drain().await;
    let statuses = world.rows("select status from ops.webhook_deliveries order by body").await;
    assert_eq!(statuses, ["delivered", "sending", "delivered"].map(|status| json!({ "status": status })));
    assert_eq!(world.receiver.seen().len(), 3);
}
