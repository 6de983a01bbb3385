//! sendMediaGroup: rules, ids, the shared group id.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{CHANNEL, PNG, Sim};

fn photo(name: &str) -> Part {
    Part::bytes(PNG).file_name(name.to_owned())
}

#[tokio::test]
async fn the_items_of_an_album_have_own_ids_and_one_group_id() {
    let sim = Sim::start().await;
    let media = json!([
        {"type": "photo", "media": "attach://first", "caption": "<b>c</b>", "parse_mode": "HTML"},
        {"type": "photo", "media": "attach://second"},
        {"type": "video", "media": "https://example.com/v.mp4"},
    ]);
    let form = Form::new()
        .text("chat_id", CHANNEL.to_string())
        .text("media", media.to_string())
        .part("first", photo("1.png"))
        .part("second", photo("2.png"));
    let (status, body) = sim.telegram_form("sendMediaGroup", form).await;
    assert_eq!(status, 200, "{body}");
    let messages = body["result"].as_array().unwrap();
    let ids: Vec<i64> = messages.iter().filter_map(|message| message["message_id"].as_i64()).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert!(messages[0]["media_group_id"].is_string());
    assert!(messages.iter().all(|message| message["media_group_id"] == messages[0]["media_group_id"]));
    assert_eq!(messages[0]["caption"], "c");
    assert_eq!(messages[0]["photo"][0]["width"], 1);
    assert!(messages[2]["video"]["file_id"].is_string());
    let sent = sim.sent("provider=telegram").await;
    assert_eq!(sent.len(), 1, "an album is one accepted call");
    assert_eq!((&sent[0]["message_ids"], &sent[0]["text"]), (&json!([1, 2, 3]), &json!("c")));
    assert_eq!(sent[0]["files"][0]["name"], "1.png");
    assert_eq!(sent[0]["files"][0]["size"], PNG.len());
}

#[tokio::test]
async fn one_item_is_an_ordinary_message_without_a_group() {
    let sim = Sim::start().await;
    let media = json!([{"type": "photo", "media": "https://example.com/1.jpg"}]);
    let result = sim.telegram_ok("sendMediaGroup", json!({"chat_id": 1, "media": media})).await;
    assert_eq!(result.as_array().map(Vec::len), Some(1));
    assert_eq!(result[0]["media_group_id"], json!(null));
}

#[tokio::test]
async fn every_broken_rule_of_albums_has_its_refusal() {
    let sim = Sim::start().await;
    let item = |kind: &str| json!({"type": kind, "media": "https://example.com/x"});
    let above = |above: bool| json!({"type": "photo", "media": "https://example.com/x", "show_caption_above_media": above});
    let captioned = json!({"type": "photo", "media": "https://example.com/x", "caption": "<b>", "parse_mode": "HTML"});
    for (media, description) in [
        (json!("["), "can't parse media JSON object"),
        (json!({"a": 1}), "expected an Array of InputMedia"),
        (json!([]), "there are no messages to send"),
        (Value::Array(vec![item("photo"); 11]), "too many messages to send as an album"),
        (json!([item("animation"), item("photo")]), "can't parse InputMedia: type \"animation\" can't be used in sendMediaGroup"),
        (json!([item("document"), item("photo")]), "document can't be mixed with other media types"),
        (json!([item("audio"), item("video")]), "audio can't be mixed with other media types"),
        (json!([{"type": "photo", "media": "attach://nothing"}]), "can't parse InputMedia: media not found"),
        (json!([above(true), above(false)]), "parameter show_caption_above_media must be the same for all messages"),
        (
            json!([item("photo"), captioned]),
            "can't parse InputMedia: Can't parse entities: Can't find end tag corresponding to start tag \"b\"",
        ),
    ] {
        let refusal = sim.telegram_refusal("sendMediaGroup", json!({"chat_id": 1, "media": media})).await;
        assert_eq!(refusal, (400, format!("Bad Request: {description}")));
    }
    assert!(sim.sent("").await.is_empty(), "nothing of a refused album is sent");
}

#[tokio::test]
async fn a_picture_that_is_none_is_named_by_its_number_in_the_album() {
    let sim = Sim::start().await;
    let media = json!([{"type": "photo", "media": "attach://a"}, {"type": "photo", "media": "attach://b"}]);
    let form = Form::new()
        .text("chat_id", "1")
        .text("media", media.to_string())
        .part("a", photo("a.png"))
        .part("b", Part::bytes(&b"not a picture"[..]).file_name("b.png"));
    let (status, body) = sim.telegram_form("sendMediaGroup", form).await;
    let description = "Bad Request: failed to send message #2 with the error message \"IMAGE_PROCESS_FAILED\"";
    assert_eq!((status, &body["description"]), (400, &json!(description)));
}
