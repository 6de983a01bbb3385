//! MAX subscriptions: one update per push, the secret verbatim, exactly 200 as success.

use serde_json::{Value, json};

use crate::harness::{Hook, Sim};

async fn write(sim: &Sim, chat_id: i64, text: &str, wait: Value) -> Value {
    let body = json!({"provider": "max", "chat_id": chat_id, "text": text, "wait": wait, "from": 9});
    sim.control("updates", body).await
}

#[tokio::test]
async fn an_update_reaches_the_subscription_with_the_secret() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    let (_, me) = sim.max("GET", "/me", None).await;
    let subscribed = sim.max("POST", "/subscriptions", Some(json!({"url": hook.url, "secret": "s3cret"}))).await;
    assert_eq!(subscribed, (200, json!({"success": true})));
    let queued = write(&sim, 5, "hi", json!(true)).await;
    assert_eq!(queued["delivery"]["status"], 200);
    let (headers, update) = hook.got().remove(0);
    assert_eq!(headers["x-max-bot-api-secret"], "s3cret");
    assert_eq!((&update["update_type"], &update["message"]["body"]["text"]), (&json!("message_created"), &json!("hi")));
    assert_eq!(update["message"]["recipient"]["user_id"], me["user_id"], "addressed to the bot");
    assert_eq!(update["message"]["sender"]["user_id"], 9);
    let (_, listed) = sim.max("GET", "/subscriptions", None).await;
    assert_eq!(listed["subscriptions"][0]["url"], hook.url);
    assert!(!listed.to_string().contains("s3cret"));
    sim.max("DELETE", &format!("/subscriptions?url={}", hook.url), None).await;
    assert_eq!(sim.max("GET", "/subscriptions", None).await.1, json!({"subscriptions": []}));
}

#[tokio::test]
async fn only_200_is_a_success_and_failures_are_retried() {
    let sim = Sim::start().await;
    // A minute of pauses is a tenth of a second, and eight hours of patience are a minute.
    sim.control("clock", json!({"scale": 0.002})).await;
    let hook = Hook::start(&[204, 500]).await;
    sim.max("POST", "/subscriptions", Some(json!({"url": hook.url}))).await;
    let queued = write(&sim, 5, "hi", json!("settled")).await;
    assert_eq!((&queued["delivery"]["delivered"], &queued["delivery"]["attempts"]), (&json!(true), &json!(3)));
    assert_eq!(hook.got().len(), 3);
}

#[tokio::test]
async fn eight_hours_without_a_success_end_the_subscription() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    hook.always(500);
    sim.max("POST", "/subscriptions", Some(json!({"url": hook.url}))).await;
    sim.control("clock", json!({"scale": 0.000_01})).await;
    let queued = write(&sim, 5, "hi", json!("settled")).await;
    assert_eq!(queued["delivery"]["delivered"], false);
    assert_eq!(sim.max("GET", "/subscriptions", None).await.1, json!({"subscriptions": []}));
}

#[tokio::test]
async fn a_subscription_gets_the_kinds_it_asked_for() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    let body = json!({"url": hook.url, "update_types": ["bot_started"]});
    sim.max("POST", "/subscriptions", Some(body)).await;
    assert_eq!(write(&sim, 5, "hi", json!(true)).await["allowed"], false);
    let update = json!({"update_type": "bot_started", "chat_id": 5, "user": {"user_id": 9}});
    let queued = sim.control("updates", json!({"provider": "max", "update": update, "wait": true})).await;
    assert_eq!(queued["delivery"]["delivered"], true);
    assert!(queued["update"]["timestamp"].is_i64());
}

#[tokio::test]
async fn a_subscription_that_cannot_be_is_refused() {
    let sim = Sim::start().await;
    for (body, message) in [
        (json!({}), "Missing required parameter: url"),
        (json!({"url": "http://example.com"}), "Field 'url' does not match required pattern"),
        (json!({"url": "https://example.com:8443"}), "Field 'url' does not match required pattern"),
        (json!({"url": "https://example.com", "secret": "abcd"}), "Field 'secret' does not match required pattern"),
    ] {
        assert_eq!(sim.max_refusal("POST", "/subscriptions", body).await.2, message);
    }
}
