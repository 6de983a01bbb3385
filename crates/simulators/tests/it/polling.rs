//! getUpdates: offsets, long polls, conflicts.

use serde_json::{Value, json};

use crate::harness::{Hook, Sim, TOKEN, answer};

async fn write(sim: &Sim, text: &str) -> Value {
    sim.control("updates", json!({"provider": "telegram", "token": TOKEN, "chat_id": 5, "text": text})).await
}

#[tokio::test]
async fn updates_stay_until_an_offset_confirms_them() {
    let sim = Sim::start().await;
    for text in ["a", "b", "/start now"] {
        assert_eq!(write(&sim, text).await["by"], "polling");
    }
    let updates = sim.telegram_ok("getUpdates", json!({})).await;
    let ids: Vec<i64> = updates.as_array().unwrap().iter().filter_map(|update| update["update_id"].as_i64()).collect();
    assert_eq!(ids, [ids[0], ids[0] + 1, ids[0] + 2]);
    assert_eq!(updates[0]["message"]["text"], "a");
    assert_eq!(updates[2]["message"]["entities"][0], json!({"type": "bot_command", "offset": 0, "length": 6}));
    assert_eq!(sim.telegram_ok("getUpdates", json!({"limit": 1})).await.as_array().map(Vec::len), Some(1));
    let rest = sim.telegram_ok("getUpdates", json!({"offset": ids[1]})).await;
    assert_eq!(rest.as_array().map(Vec::len), Some(2));
    let last = sim.telegram_ok("getUpdates", json!({"offset": -1})).await;
    assert_eq!((last.as_array().map(Vec::len), &last[0]["update_id"]), (Some(1), &json!(ids[2])));
}

#[tokio::test]
async fn a_long_poll_ends_when_an_update_comes() {
    let sim = Sim::start().await;
    let poll = sim.telegram_ok("getUpdates", json!({"timeout": 50}));
    let (updates, _) = tokio::join!(poll, write(&sim, "news"));
    assert_eq!(updates[0]["message"]["text"], "news");
}

#[tokio::test]
async fn a_second_poll_or_a_webhook_ends_the_first_with_a_conflict() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    let poll = || answer(sim.client.post(sim.method_url("getUpdates")).json(&json!({"timeout": 50})));
    let (mut one, mut two) = (tokio::spawn(poll()), tokio::spawn(poll()));
    // Whichever came first is ended by the other.
    let (ended, other) = tokio::select! {
        ended = &mut one => (ended, two),
        ended = &mut two => (ended, one),
    };
    let (status, body) = ended.unwrap();
    assert_eq!(status, 409);
    let terminated = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    assert_eq!(body["description"], terminated);
    sim.telegram_ok("setWebhook", json!({"url": hook.url})).await;
    assert_eq!(other.await.unwrap().1["description"], "Conflict: terminated by setWebhook request");
    let refusal = sim.telegram_refusal("getUpdates", json!({})).await;
    let active = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
    assert_eq!(refusal, (409, active.to_owned()));
}
