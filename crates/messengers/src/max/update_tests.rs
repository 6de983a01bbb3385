//! Updates of MAX as they come, and as they should not.

use serde_json::{Value, json};

use crate::{Inbound, InboundKind};

fn created(body: Value, more: &Value) -> Value {
    let mut message = json!({
        "recipient": {"chat_id": 5001, "chat_type": "dialog", "user_id": 9},
        "timestamp": 1_780_000_000_000_i64,
        "sender": {"user_id": 77, "first_name": "Анна", "last_name": "К.", "is_bot": false},
    });
    if !body.is_null() {
        message["body"] = body;
    }
    for (key, value) in more.as_object().unwrap() {
        message[key] = value.clone();
    }
    json!({"update_type": "message_created", "timestamp": 1_780_000_000_001_i64, "message": message, "user_locale": "ru"})
}

fn read(update: &Value) -> Inbound {
    Inbound::from_max(update).unwrap().unwrap()
}

#[test]
fn a_text_is_known_by_its_message_id() {
    let inbound = read(&created(json!({"mid": "mid.1", "seq": 1, "text": "Доставка?"}), &json!({})));
    assert_eq!(
        inbound,
        Inbound {
            chat_id: "5001".into(),
            provider_message_id: "mid.1".into(),
            kind: InboundKind::Text,
            text: Some("Доставка?".into()),
            payload: None,
            sender_name: Some("Анна К.".into()),
            is_from_bot: false,
            sent_at_ms: Some(1_780_000_000_000),
        }
    );
}

#[test]
fn what_has_no_words_is_told_apart_and_a_picture_with_words_is_its_words() {
    let sticker = json!({"mid": "mid.2", "seq": 2, "attachments": [{"type": "sticker", "payload": {"code": "x"}}]});
    assert_eq!(read(&created(sticker, &json!({}))).kind, InboundKind::Other);
    assert_eq!(read(&created(json!({"mid": "mid.3", "text": ""}), &json!({}))).kind, InboundKind::Other);
    let picture = json!({"mid": "mid.4", "text": "что это", "attachments": [{"type": "image"}]});
    assert_eq!(read(&created(picture, &json!({}))).text.as_deref(), Some("что это"));
}

#[test]
fn a_forward_without_a_body_has_a_key_that_its_repeat_has_too() {
    let forward = created(Value::Null, &json!({"link": {"type": "forward", "message": {"mid": "mid.0", "text": "x"}}}));
    let inbound = read(&forward);
    assert_eq!((inbound.kind, inbound.provider_message_id.as_str()), (InboundKind::Other, "forward-77-1780000000000"));
    assert_eq!(read(&forward), inbound);
}

#[test]
fn a_pressed_button_is_known_by_its_callback() {
    let mut update = json!({
        "update_type": "message_callback", "timestamp": 3,
        "callback": {"timestamp": 2, "callback_id": "cb.1", "payload": "Доставка", "user": {"user_id": 77, "first_name": "Анна"}},
        "message": {"recipient": {"chat_id": 5001, "chat_type": "dialog"}, "body": {"mid": "mid.9", "text": "Меню"}},
    });
    let inbound = read(&update);
    assert_eq!((inbound.kind, inbound.payload.as_deref(), inbound.text), (InboundKind::Button, Some("Доставка"), None));
    assert_eq!((inbound.chat_id.as_str(), inbound.provider_message_id.as_str(), inbound.sent_at_ms), ("5001", "cb.1", Some(2)));
    update["message"]["recipient"]["chat_id"] = json!(0);
    assert_eq!(read(&update).chat_id, "user:77");
    update["message"] = Value::Null;
    assert_eq!(read(&update).chat_id, "user:77");
}

#[test]
fn a_start_is_known_by_who_and_when() {
    let update =
        json!({"update_type": "bot_started", "timestamp": 4, "chat_id": 5001, "user": {"user_id": 77, "first_name": "Анна"}});
    let inbound = read(&update);
    assert_eq!((inbound.kind, inbound.provider_message_id.as_str()), (InboundKind::Start, "start-77-4"));
}

#[test]
fn groups_channels_edits_and_kinds_of_the_future_are_not_ours() {
    for kind in ["chat", "channel"] {
        let update = created(json!({"mid": "mid.1", "text": "x"}), &json!({"recipient": {"chat_id": -1, "chat_type": kind}}));
        assert_eq!(Inbound::from_max(&update), Ok(None), "{kind}");
    }
    for kind in ["message_edited", "bot_stopped", "dialog_cleared", "something_new"] {
        assert_eq!(Inbound::from_max(&json!({"update_type": kind})), Ok(None), "{kind}");
    }
}

#[test]
fn what_is_not_in_words_of_max_says_what_is_missing() {
    for (update, words) in [
        (json!({}), "update_type"),
        (json!([1]), "update_type"),
        (json!({"update_type": "message_created"}), "message"),
        (created(json!({"text": "x"}), &json!({})), "mid"),
        (created(json!({"mid": "m", "text": "x"}), &json!({"recipient": {}})), "chat_id"),
        (json!({"update_type": "message_callback", "callback": {"user": {"user_id": 1}}}), "callback_id"),
        (json!({"update_type": "bot_started", "user": {"user_id": 1}}), "chat_id"),
        (json!({"update_type": "bot_started", "chat_id": 1.5, "user": {"user_id": 1}}), "chat_id"),
    ] {
        let problem = Inbound::from_max(&update).unwrap_err().0;
        assert!(problem.contains(words), "{problem} should say {words}");
    }
}
