//! The control plane refuses what it does not understand and names the field.

use serde_json::{Value, json};

use crate::harness::{CHANNEL, Sim, TOKEN, answer};

#[tokio::test]
async fn a_bad_field_is_named() {
    let sim = Sim::start().await;
    for (path, body, field) in [
        ("faults", json!({"provider": "icq", "status": 500}), "provider"),
        ("faults", json!({"provider": "max"}), "status"),
        ("faults", json!({"provider": "max", "status": "many"}), "status"),
        ("faults", json!({"provider": "max", "status": 99}), "status"),
        ("faults", json!({"provider": "max", "status": 500, "times": 0}), "times"),
        ("faults", json!({"provider": "max", "status": 500, "tmies": 1}), "tmies"),
        ("faults", json!({"provider": "max", "drop": "later"}), "drop"),
        ("faults", json!({"provider": "max", "status": 500, "rate": 2}), "rate"),
        ("faults", json!([]), "body"),
        ("chats", json!({"provider": "telegram", "target": 1, "state": "sad"}), "state"),
        ("chats", json!({"provider": "telegram", "state": "ok"}), "target"),
        ("chats", json!({"provider": "telegram", "target": 1, "state": "migrated"}), "to"),
        ("chats", json!({"provider": "max", "target": 1, "type": "group"}), "type"),
        ("tokens", json!({"provider": "telegram", "token": TOKEN}), "valid"),
        ("limits", json!({"provider": "telegram", "not_ready_sends": 1}), "not_ready_sends"),
        ("clock", json!({"scale": 0}), "scale"),
        ("updates", json!({"provider": "telegram", "chat_id": 1, "text": "x"}), "token"),
        ("updates", json!({"provider": "telegram", "token": TOKEN}), "update"),
        ("updates", json!({"provider": "telegram", "token": TOKEN, "text": "x"}), "chat_id"),
        ("updates", json!({"provider": "max", "token": "abc", "update": {}}), "update"),
        ("files", json!({"provider": "telegram", "token": TOKEN, "name": "a.pdf"}), "bytes_base64"),
        ("files", json!({"provider": "telegram", "token": TOKEN, "bytes_base64": "%"}), "bytes_base64"),
        ("files", json!({"provider": "telegram", "token": TOKEN, "bytes": 1, "kind": "sticker"}), "kind"),
        ("members", json!({"provider": "telegram", "target": 1, "user_id": 5, "status": "sad"}), "status"),
        ("members", json!({"provider": "max", "target": 1, "user_id": 5, "status": "left"}), "provider"),
        ("webhooks", json!({"provider": "telegram", "token": TOKEN, "broken": true}), "broken"),
        ("webhooks", json!({"provider": "telegram", "token": TOKEN, "url": "http://example.com/"}), "url"),
        ("answers", json!({"provider": "telegram", "text": "x"}), "provider"),
        ("answers", json!({"provider": "gemini"}), "text"),
        ("answers", json!({"provider": "gemini", "text": "x", "json": {}}), "json"),
        ("answers", json!({"provider": "gemini", "text": "x", "times": 0}), "times"),
        ("transcripts", json!({"segments": [{"start": 0}]}), "segments"),
        ("transcripts", json!({}), "text"),
        ("pages", json!({"body": "x"}), "path"),
        ("pages", json!({"path": "a", "body": "x", "bytes": 5}), "body"),
        ("pages", json!({"path": "a", "headers": {"a b": "c"}}), "headers"),
        ("pages", json!({"path": "a", "status": 1}), "status"),
        ("chats", json!({"provider": "gemini", "target": 1}), "provider"),
        ("tokens", json!({"provider": "web", "token": "x", "valid": false}), "provider"),
        ("limits", json!({"provider": "openai"}), "provider"),
        ("updates", json!({"provider": "web", "update": {"a": 1}}), "provider"),
        ("reset", json!({"hard": true}), "hard"),
    ] {
        let (status, answer) = sim.control_raw(path, body.clone()).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert_eq!((status, error.split(':').next()), (400, Some(field)), "{path} {body}: {answer}");
    }
    for query in ["sent?limit=0", "sent?after=x", "calls?provder=max"] {
        let (status, answer) = answer(sim.client.get(format!("{}/control/{query}", sim.base))).await;
        assert_eq!(status, 400, "{query}: {answer}");
    }
}

#[tokio::test]
async fn a_reset_forgets_everything() {
    let sim = Sim::start().await;
    sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
    sim.control("chats", json!({"provider": "telegram", "target": CHANNEL, "state": "kicked"})).await;
    sim.control("tokens", json!({"provider": "telegram", "token": TOKEN, "valid": false})).await;
    sim.control("faults", json!({"provider": "telegram", "status": 500, "times": 9})).await;
    sim.control("reset", json!({})).await;
    assert_eq!(sim.sent("").await, Vec::<Value>::new());
    assert_eq!(sim.read("faults").await["faults"], json!([]));
    let message = sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
    assert_eq!(message["message_id"], 1);
}

#[tokio::test]
async fn faults_are_cleared_and_nothing_else_is() {
    let sim = Sim::start().await;
    sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
    sim.control("faults", json!({"provider": "telegram", "status": 500, "rate": 1.0})).await;
    let (status, answer) = answer(sim.client.delete(format!("{}/control/faults", sim.base))).await;
    assert_eq!((status, &answer["faults"]), (200, &json!([])));
    let message = sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
    assert_eq!(message["message_id"], 2);
    assert_eq!(sim.sent("").await.len(), 2);
}

#[tokio::test]
async fn the_root_says_what_this_is() {
    let sim = Sim::start().await;
    let (status, body) = answer(sim.client.get(format!("{}/", sim.base))).await;
    assert_eq!((status, body["what"].is_string()), (200, true));
}
