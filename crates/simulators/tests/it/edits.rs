//! Edits and deletions find the message again.

use serde_json::json;

use crate::harness::{CHANNEL, Sim, answer};

const NOT_MODIFIED: &str = "Bad Request: message is not modified: specified new message content and reply markup are \
                            exactly the same as a current content and reply markup of the message";

#[tokio::test]
async fn an_edit_changes_the_text_and_an_edit_that_changes_nothing_is_refused() {
    let sim = Sim::start().await;
    sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "old"})).await;
    let edit = json!({"chat_id": CHANNEL, "message_id": 1, "text": "<b>new</b>", "parse_mode": "HTML"});
    let edited = sim.telegram_ok("editMessageText", edit.clone()).await;
    assert_eq!((&edited["text"], &edited["message_id"]), (&json!("new"), &json!(1)));
    assert!(edited["edit_date"].is_i64());
    assert_eq!(sim.telegram_refusal("editMessageText", edit).await, (400, NOT_MODIFIED.to_owned()));
}

#[tokio::test]
async fn what_cannot_be_edited_says_why() {
    let sim = Sim::start().await;
    sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": "text"})).await;
    sim.telegram_ok("sendPhoto", json!({"chat_id": 1, "photo": "https://example.com/1.jpg"})).await;
    let foreign = format!("{}/telegram/bot9:other/sendMessage", sim.base);
    answer(sim.client.post(foreign).json(&json!({"chat_id": 1, "text": "other"}))).await;
    for (method, params, description) in [
        ("editMessageText", json!({"message_id": 99, "text": "x"}), "message to edit not found"),
        ("editMessageText", json!({"text": "x"}), "message identifier is not specified"),
        ("editMessageText", json!({"message_id": 2, "text": "x"}), "there is no text in the message to edit"),
        ("editMessageCaption", json!({"message_id": 1, "caption": "x"}), "there is no caption in the message to edit"),
        ("editMessageText", json!({"message_id": 3, "text": "x"}), "message can't be edited"),
        ("editMessageText", json!({"message_id": 1, "text": "x".repeat(4097)}), "MESSAGE_TOO_LONG"),
        ("deleteMessage", json!({"message_id": 99}), "message to delete not found"),
    ] {
        let mut params = params;
        params["chat_id"] = json!(1);
        let refusal = sim.telegram_refusal(method, params).await;
        assert_eq!(refusal, (400, format!("Bad Request: {description}")), "{method}");
    }
}

#[tokio::test]
async fn caption_media_and_keyboard_are_edited_each_by_its_own_method() {
    let sim = Sim::start().await;
    let photo = json!({"chat_id": 1, "photo": "https://example.com/1.jpg", "caption": "a"});
    sim.telegram_ok("sendPhoto", photo).await;
    let edit = json!({"chat_id": 1, "message_id": 1, "caption": "b"});
    assert_eq!(sim.telegram_ok("editMessageCaption", edit).await["caption"], "b");
    let media = json!({"type": "document", "media": "https://example.com/x.pdf"});
    let edited = sim.telegram_ok("editMessageMedia", json!({"chat_id": 1, "message_id": 1, "media": media})).await;
    assert!(edited["document"]["file_id"].is_string() && edited["photo"].is_null());
    let markup = json!({"inline_keyboard": [[{"text": "a", "url": "https://example.com"}]]});
    let edit = json!({"chat_id": 1, "message_id": 1, "reply_markup": markup});
    assert_eq!(sim.telegram_ok("editMessageReplyMarkup", edit).await["reply_markup"], markup);
}

#[tokio::test]
async fn a_deleted_message_is_gone_and_many_are_deleted_at_once() {
    let sim = Sim::start().await;
    for _ in 0..3 {
        sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": "x"})).await;
    }
    assert_eq!(sim.telegram_ok("deleteMessage", json!({"chat_id": 1, "message_id": 1})).await, true);
    assert_eq!(sim.telegram_ok("deleteMessages", json!({"chat_id": 1, "message_ids": [2, 3, 99]})).await, true);
    let refusal = sim.telegram_refusal("deleteMessage", json!({"chat_id": 1, "message_id": 3})).await;
    assert_eq!(refusal.1, "Bad Request: message to delete not found");
}
