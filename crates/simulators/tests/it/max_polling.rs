//! MAX long polling: markers, types, and silence while a subscription exists.

use serde_json::{Value, json};

use crate::harness::{Hook, MAX_TOKEN, Sim};

async fn write(sim: &Sim, text: &str) {
    sim.control("updates", json!({"provider": "max", "token": MAX_TOKEN, "chat_id": 5, "text": text})).await;
}

fn texts(page: &Value) -> Vec<&str> {
    let updates = page["updates"].as_array().map(Vec::as_slice).unwrap_or_default();
    updates.iter().filter_map(|update| update["message"]["body"]["text"].as_str()).collect()
}

#[tokio::test]
async fn a_marker_marks_everything_before_it_as_read() {
    let sim = Sim::start().await;
    for text in ["a", "b", "c"] {
        write(&sim, text).await;
    }
    let (_, first) = sim.max("GET", "/updates?timeout=0&limit=2", None).await;
    assert_eq!(texts(&first), ["a", "b"]);
    let again = format!("/updates?timeout=0&marker={}", first["marker"]);
    let (_, second) = sim.max("GET", &again, None).await;
    assert_eq!(texts(&second), ["c"]);
    assert_eq!(texts(&sim.max("GET", &again, None).await.1), ["c"], "read only when the next marker comes");
    let after = format!("/updates?timeout=0&marker={}", second["marker"]);
    assert!(texts(&sim.max("GET", &after, None).await.1).is_empty());
}

#[tokio::test]
async fn a_poll_waits_for_news_of_the_kinds_it_asked_for() {
    let sim = Sim::start().await;
    let poll = sim.max("GET", "/updates?timeout=90&types=message_created", None);
    let news = async {
        let update = json!({"update_type": "bot_started", "chat_id": 5, "user": {"user_id": 9}});
        sim.control("updates", json!({"provider": "max", "token": MAX_TOKEN, "update": update})).await;
        write(&sim, "news").await;
    };
    let ((_, page), ()) = tokio::join!(poll, news);
    assert_eq!(texts(&page), ["news"]);
    assert_eq!(page["updates"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn nothing_is_polled_while_a_subscription_exists() {
    let sim = Sim::start().await;
    write(&sim, "before").await;
    let hook = Hook::start(&[]).await;
    sim.max("POST", "/subscriptions", Some(json!({"url": hook.url}))).await;
    assert!(texts(&sim.max("GET", "/updates?timeout=0", None).await.1).is_empty());
}

#[tokio::test]
async fn a_number_outside_its_range_is_refused() {
    let sim = Sim::start().await;
    let (status, body) = sim.max("GET", "/updates?timeout=1500", None).await;
    assert_eq!((status, &body["message"]), (400, &json!("Field 'timeout' value (1500) must be at most 90")));
}
