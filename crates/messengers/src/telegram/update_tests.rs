//! Updates of Telegram as they come, and as they should not.

use serde_json::{Value, json};

use crate::{Inbound, InboundKind};

fn message(more: &Value) -> Value {
    let mut message = json!({
        "message_id": 12, "date": 1_780_000_000, "chat": {"id": 77, "type": "private"},
        "from": {"id": 77, "is_bot": false, "first_name": "Ann"},
    });
    for (key, value) in more.as_object().unwrap() {
        message[key] = value.clone();
    }
    json!({"update_id": 5, "message": message})
}

fn read(update: &Value) -> Inbound {
    Inbound::from_telegram(update).unwrap().unwrap()
}

#[test]
fn a_text_is_known_by_its_id_in_the_chat() {
    let inbound = read(&message(&json!({"text": "delivery?"})));
    assert_eq!(
        inbound,
        Inbound {
            chat_id: "77".into(),
            provider_message_id: "12".into(),
            kind: InboundKind::Text,
            text: Some("delivery?".into()),
            payload: None,
            sender_name: Some("Ann".into()),
            is_from_bot: false,
            sent_at_ms: Some(1_780_000_000_000),
        }
    );
}

#[test]
fn a_start_a_caption_and_what_has_no_words_are_told_apart() {
    for (more, kind) in [
        (json!({"text": "/start"}), InboundKind::Start),
        (json!({"text": "/start promo"}), InboundKind::Start),
        (json!({"text": "/started"}), InboundKind::Text),
        (json!({"caption": "what is it", "photo": []}), InboundKind::Text),
        (json!({"sticker": {"file_id": "x"}}), InboundKind::Other),
        (json!({"location": {"latitude": 1.0, "longitude": 2.0}}), InboundKind::Other),
        (json!({"text": ""}), InboundKind::Other),
    ] {
        assert_eq!(read(&message(&more)).kind, kind, "{more}");
    }
}

#[test]
fn a_pressed_button_is_known_by_its_query() {
    let mut update = json!({"update_id": 6, "callback_query": {
        "id": "4242", "from": {"id": 77, "first_name": "Ann", "is_bot": false}, "data": "Delivery",
        "message": {"message_id": 3, "chat": {"id": 77, "type": "private"}},
    }});
    let inbound = read(&update);
    assert_eq!(
        (inbound.kind, inbound.provider_message_id.as_str(), inbound.payload.as_deref(), inbound.chat_id.as_str()),
        (InboundKind::Button, "4242", Some("Delivery"), "77")
    );
    update["callback_query"].as_object_mut().unwrap().remove("message");
    assert_eq!(read(&update).chat_id, "77");
}

#[test]
fn groups_service_messages_edits_and_kinds_of_the_future_are_not_ours() {
    for update in [
        message(&json!({"text": "x", "chat": {"id": -5, "type": "supergroup"}})),
        message(&json!({"pinned_message": {}})),
        json!({"update_id": 1, "edited_message": {"message_id": 1}}),
        json!({"update_id": 1, "something_new": {}}),
    ] {
        assert_eq!(Inbound::from_telegram(&update), Ok(None), "{update}");
    }
}

#[test]
fn what_is_not_in_words_of_telegram_says_what_is_missing() {
    for (update, words) in [
        (json!({}), "update_id"),
        (json!("x"), "update_id"),
        (json!({"update_id": 1, "message": {}}), "chat.id"),
        (json!({"update_id": 1, "message": null}), "chat.id"),
        (json!({"update_id": 1, "message": {"chat": {"id": 1}}}), "message_id"),
        (json!({"update_id": 1, "callback_query": {"from": {"id": 1}}}), "callback_query.id"),
        (json!({"update_id": 1, "callback_query": {"id": "1"}}), "from.id"),
    ] {
        let problem = Inbound::from_telegram(&update).unwrap_err().0;
        assert!(problem.contains(words), "{problem} should say {words}");
    }
}
