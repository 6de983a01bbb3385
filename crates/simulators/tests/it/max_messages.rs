//! MAX messages: their ids, their limits, edits, deletions, answers to buttons.

use serde_json::json;

use crate::harness::{MAX_TOKEN, Sim};

const CHANNEL: i64 = -70_801_090_403_050;

#[tokio::test]
async fn a_message_has_a_mid_of_chat_and_seq_and_no_null_keys() {
    let sim = Sim::start().await;
    let message = sim.max_send(CHANNEL, json!({"text": "x", "attachments": [], "format": null, "link": null})).await;
    let seq = message["body"]["seq"].as_i64().unwrap();
    let mid = format!("mid.{CHANNEL:016x}{seq:016x}");
    assert_eq!(message["body"], json!({"mid": mid, "seq": seq, "text": "x"}));
    assert_eq!(seq >> 16, message["timestamp"].as_i64().unwrap());
    assert_eq!(message["recipient"], json!({"chat_id": CHANNEL, "chat_type": "channel"}));
    assert_eq!(message.get("sender"), None, "a channel speaks as itself");
    let (_, again) = sim.max("GET", &format!("/messages/{mid}"), None).await;
    assert_eq!(again, message);
}

#[tokio::test]
async fn a_dialog_is_reached_by_user_id_and_has_another_chat_id() {
    let sim = Sim::start().await;
    let (_, body) = sim.max("POST", "/messages?user_id=7&v=1&disable_link_preview=false", Some(json!({"text": "x"}))).await;
    let recipient = &body["message"]["recipient"];
    assert_eq!((&recipient["chat_type"], &recipient["user_id"]), (&json!("dialog"), &json!(7)));
    assert_ne!(recipient["chat_id"], 7);
    assert_eq!(body["message"]["sender"]["is_bot"], true);
    assert_eq!(sim.sent("provider=max&target=7").await.len(), 1);
}

#[tokio::test]
async fn the_raw_text_is_measured_with_its_markup() {
    let sim = Sim::start().await;
    sim.max_send(-1, json!({"text": "я".repeat(4000)})).await;
    let text = format!("<b>{}</b>", "x".repeat(3994));
    let refusal = sim.max_refusal("POST", "/messages?chat_id=-1", json!({"text": text, "format": "html"})).await;
    let message = "Field 'text' size (4001) must be at most 4000".to_owned();
    assert_eq!(refusal, (400, "proto.payload".to_owned(), message));
}

#[tokio::test]
async fn formatted_text_comes_back_plain_with_markup() {
    let sim = Sim::start().await;
    let message = sim.max_send(-1, json!({"text": "🏟**b** <x>", "format": "markdown"})).await;
    assert_eq!(message["body"]["text"], "🏟b <x>");
    assert_eq!(message["body"]["markup"], json!([{"type": "strong", "from": 2, "length": 1}]));
    let entry = sim.sent("provider=max").await.remove(0);
    assert_eq!((&entry["parse_mode"], &entry["params"]["text"]), (&json!("markdown"), &json!("🏟**b** <x>")));
    assert_eq!(entry["params"]["chat_id"], "-1");
}

#[tokio::test]
async fn what_does_not_fit_the_schema_is_refused() {
    let sim = Sim::start().await;
    for (path, body, message) in [
        ("/messages", json!({"text": "x"}), "Unknown recipient"),
        ("/messages?chat_id=-1", json!({"text": 5}), "Can't deserialize body"),
        ("/messages?chat_id=-1", json!([]), "Can't deserialize body"),
        ("/messages?chat_id=-1", json!({"text": "x", "format": "wiki"}), "Can't deserialize body"),
        ("/messages?chat_id=-1", json!({"text": "x", "attachments": [{"type": "hologram"}]}), "Can't deserialize body"),
        ("/messages?chat_id=-1", json!({}), "Message must have text, attachments or link"),
    ] {
        let refusal = sim.max_refusal("POST", path, body).await;
        assert_eq!((refusal.0, refusal.1.as_str(), refusal.2.as_str()), (400, "proto.payload", message));
    }
    let mid = sim.max_send(-1, json!({"text": "x"})).await["body"]["mid"].clone();
    let forward = json!({"text": "x", "link": {"type": "forward", "mid": mid}});
    assert_eq!(sim.max_refusal("POST", "/messages?chat_id=-1", forward).await.2, "errors.forward.text.not-empty");
    let reply = json!({"text": "x", "link": {"type": "reply", "mid": "mid.0"}});
    assert_eq!(sim.max_refusal("POST", "/messages?chat_id=-1", reply).await.0, 404);
    let reply = sim.max_send(-1, json!({"text": "y", "link": {"type": "reply", "mid": mid}})).await;
    assert_eq!(reply["link"]["message"]["text"], "x");
}

#[tokio::test]
async fn a_message_is_edited_and_deleted_by_its_mid() {
    let sim = Sim::start().await;
    let button = json!([[{"type": "callback", "text": "a", "payload": "b"}]]);
    let keyboard = json!([{"type": "inline_keyboard", "payload": {"buttons": button}}]);
    let message = sim.max_send(-1, json!({"text": "old", "attachments": keyboard})).await;
    let mid = message["body"]["mid"].as_str().unwrap();
    let path = format!("/messages?message_id={mid}");
    let done = (200, json!({"success": true}));
    assert_eq!(sim.max("PUT", &path, Some(json!({"text": "new"}))).await, done);
    let (_, edited) = sim.max("GET", &format!("/messages/{mid}"), None).await;
    assert_eq!(edited["body"]["text"], "new");
    assert_eq!(edited["body"]["attachments"], message["body"]["attachments"], "null keeps them");
    sim.max("PUT", &path, Some(json!({"attachments": []}))).await;
    let (_, listed) = sim.max("GET", "/messages?chat_id=-1", None).await;
    assert_eq!(listed["messages"][0]["body"].get("attachments"), None, "an empty list removes them");
    assert_eq!(sim.max("DELETE", &path, None).await, done);
    let refusal = sim.max_refusal("DELETE", &path, json!({})).await;
    assert_eq!(refusal, (400, "proto.payload".to_owned(), format!("Invalid message_id: {mid}")));
    assert_eq!(sim.max("GET", &format!("/messages/{mid}"), None).await.1["code"], "not.found");
    assert_eq!(sim.max_refusal("PUT", "/messages", json!({})).await.2, "Missing required parameter: message_id");
}

#[tokio::test]
async fn a_pressed_button_is_answered_in_place() {
    let sim = Sim::start().await;
    let message = sim.max_send(-1, json!({"text": "choose"})).await;
    let update = json!({
        "update_type": "message_callback",
        "callback": {"timestamp": 1, "callback_id": "cb1", "payload": "b", "user": {"user_id": 5}},
        "message": message,
    });
    sim.control("updates", json!({"provider": "max", "token": MAX_TOKEN, "update": update})).await;
    let refusal = async |path: &str, body| sim.max_refusal("POST", path, body).await;
    assert_eq!(
        refusal("/answers?callback_id=other", json!({"notification": "x"})).await.2,
        "callback_id: Callback identifier is invalid"
    );
    assert_eq!(refusal("/answers?callback_id=cb1", json!({})).await.2, "Invalid request. `message` or `notification` required");
    let answer = json!({"message": {"text": "chosen"}, "notification": "ok"});
    assert_eq!(sim.max("POST", "/answers?callback_id=cb1", Some(answer)).await.1, json!({"success": true}));
    let mid = message["body"]["mid"].as_str().unwrap();
    assert_eq!(sim.max("GET", &format!("/messages/{mid}"), None).await.1["body"]["text"], "chosen");
}
