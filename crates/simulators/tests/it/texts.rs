//! Telegram texts: measured after parsing, refused in the server's own words, shown back as plain text and entities.

use serde_json::json;

use crate::harness::{CHANNEL, Sim};

#[tokio::test]
async fn a_message_comes_back_with_its_id_its_chat_and_its_date() {
    let sim = Sim::start().await;
    let first = sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "one"})).await;
    let second = sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "two"})).await;
    assert_eq!((&first["message_id"], &second["message_id"]), (&json!(1), &json!(2)));
    assert_eq!(first["chat"]["type"], "channel");
    assert_eq!(first["sender_chat"]["id"], CHANNEL);
    assert_eq!(first["from"], json!(null), "a channel speaks as itself");
    assert_eq!(first["text"], "one");
    assert!(first["date"].as_i64().is_some_and(|date| date > 1_700_000_000));
}

#[tokio::test]
async fn a_private_chat_shows_the_bot_as_the_author() {
    let sim = Sim::start().await;
    let message = sim.telegram_ok("sendMessage", json!({"chat_id": 42, "text": "hi"})).await;
    assert_eq!((&message["from"]["id"], &message["chat"]["type"]), (&json!(123_456), &json!("private")));
}

#[tokio::test]
async fn a_text_of_4096_code_points_passes_and_a_text_of_4097_code_points_is_refused_as_too_long() {
    let sim = Sim::start().await;
    sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": "🏟".repeat(4096)})).await;
    let refusal = sim.telegram_refusal("sendMessage", json!({"chat_id": 1, "text": "я".repeat(4097)})).await;
    assert_eq!(refusal, (400, "Bad Request: message is too long".to_owned()));
}

#[tokio::test]
async fn markup_is_taken_out_of_the_text_and_into_entities() {
    let sim = Sim::start().await;
    let text = "🏟<b>bold</b> <a href=\"https://example.com/x\">link</a>";
    let message = sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": text, "parse_mode": "HTML"})).await;
    assert_eq!(message["text"], "🏟bold link");
    assert_eq!(
        message["entities"],
        json!([
            {"type": "bold", "offset": 2, "length": 4},
            {"type": "text_link", "offset": 7, "length": 4, "url": "https://example.com/x"}
        ])
    );
}

#[tokio::test]
async fn broken_markup_of_every_mode_is_refused_with_the_byte_offset() {
    let sim = Sim::start().await;
    for (mode, text, message) in [
        ("HTML", "я<b>x", "Can't find end tag corresponding to start tag \"b\""),
        ("HTML", "я<br>", "Unsupported start tag \"br\" at byte offset 2"),
        ("MarkdownV2", "я.", "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("MarkdownV2", "я*x", "Can't find end of Bold entity at byte offset 2"),
        ("Markdown", "я_x", "Can't find end of the entity starting at byte offset 2"),
    ] {
        let params = json!({"chat_id": 1, "text": text, "parse_mode": mode});
        let refusal = sim.telegram_refusal("sendMessage", params).await;
        assert_eq!(refusal, (400, format!("Bad Request: can't parse entities: {message}")), "{mode}");
    }
}

#[tokio::test]
async fn a_reply_needs_its_target_unless_it_may_go_without() {
    let sim = Sim::start().await;
    let question = sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": "?"})).await;
    let reply = |id: i64, tolerant: bool| json!({"chat_id": 1, "text": "!", "reply_parameters": {"message_id": id, "allow_sending_without_reply": tolerant}});
    let answer = sim.telegram_ok("sendMessage", reply(1, false)).await;
    assert_eq!(answer["reply_to_message"]["message_id"], question["message_id"]);
    let refusal = sim.telegram_refusal("sendMessage", reply(99, false)).await;
    assert_eq!(refusal, (400, "Bad Request: message to be replied not found".to_owned()));
    assert_eq!(sim.telegram_ok("sendMessage", reply(99, true)).await["reply_to_message"], json!(null));
}
