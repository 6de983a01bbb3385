//! Which attachments go together, and what is wrong with those that do not.

use serde_json::{Value, json};

use crate::harness::Sim;

fn image() -> Value {
    json!({"type": "image", "payload": {"url": "https://example.com/1.jpg"}})
}

fn keyboard() -> Value {
    let button = json!({"type": "link", "text": "a", "url": "https://example.com"});
    json!({"type": "inline_keyboard", "payload": {"buttons": [[button]]}})
}

#[tokio::test]
async fn images_and_a_keyboard_are_one_message() {
    let sim = Sim::start().await;
    let message = sim.max_send(-1, json!({"attachments": [image(), image(), keyboard()]})).await;
    let shown = message["body"]["attachments"].as_array().unwrap();
    assert_eq!(shown.len(), 3);
    assert!(shown[0]["payload"]["photo_id"].is_i64());
    assert_eq!(shown[2], keyboard());
}

#[tokio::test]
async fn attachments_that_do_not_go_together_are_refused() {
    let sim = Sim::start().await;
    let file = json!({"type": "file", "payload": {"token": "t"}});
    let unreachable = json!({"type": "image", "payload": {"url": "https://host.invalid/1.jpg"}});
    let wrong_token = json!({"type": "image", "payload": {"token": "t"}});
    for (attachments, message) in [
        (json!([file, file]), "Must be only one file attachment in message"),
        (json!([file, image()]), "Must be only one file attachment in message"),
        (Value::Array(vec![image(); 13]), "Field 'attachments' size (13) must be at most 12"),
        (json!([unreachable]), "Failed to upload image."),
        (json!([wrong_token]), "Invalid photo token provided: t"),
        (json!([{"type": "image", "payload": {}}]), "Can't deserialize body"),
    ] {
        let refusal = sim.max_refusal("POST", "/messages?chat_id=-1", json!({"attachments": attachments})).await;
        assert_eq!((refusal.1.as_str(), refusal.2.as_str()), ("proto.payload", message));
    }
    assert!(sim.sent("").await.is_empty());
}
