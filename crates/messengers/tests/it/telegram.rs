//! What only Telegram does: chats that move, albums without buttons, names for chats, media by address.

use messengers::{Channel, MediaKind, Meta};
use serde_json::json;

use crate::harness::{PERMANENT_CHANNEL, PERMANENT_DELIVERY, Stage, by_url, class, file, link};

const NEW_ID: i64 = -1_009_999_999_999;

#[tokio::test]
async fn a_message_follows_a_chat_that_moved_and_tells_where_to() {
    let stage = Stage::telegram().await;
    stage.chat_is(json!({"state": "migrated", "to": NEW_ID})).await;
    let text = stage.text("x").await;
    let album = [file(MediaKind::Image, "a.png"), file(MediaKind::Image, "b.png")];
    let album = stage.media(&album, None).await.unwrap();
    for sent in [text, album] {
        assert_eq!(sent.migrated_to.as_deref(), Some("-1009999999999"));
    }
    let sent = stage.sent().await;
    assert_eq!(sent.iter().filter(|sent| sent["chat_id"] == NEW_ID).count(), 2);
    assert_eq!(stage.calls("sendMessage").await, 2, "one refused, one accepted");
}

#[tokio::test]
async fn a_chat_that_moved_to_where_the_bot_may_not_write_still_tells_where_to() {
    let stage = Stage::telegram().await;
    stage.chat_is(json!({"state": "migrated", "to": NEW_ID})).await;
    stage.control("chats", json!({"target": NEW_ID, "state": "kicked"})).await;
    let error = stage.text_refusal("x").await;
    assert_eq!((class(&error), error.code.as_str()), (PERMANENT_CHANNEL, "403"));
    assert_eq!(error.raw["migrated_to"], NEW_ID.to_string());
    assert_eq!(stage.calls("sendMessage").await, 2, "once, not for ever");
}

#[tokio::test]
async fn an_edit_does_not_follow_a_chat_that_moved() {
    let stage = Stage::telegram().await;
    let id = stage.text("x").await.provider_message_id;
    stage.chat_is(json!({"state": "migrated", "to": NEW_ID})).await;
    let error = stage.messenger.edit_text(&stage.channel, &id, "y", &Meta::default()).await.unwrap_err();
    assert_eq!(class(&error), PERMANENT_CHANNEL, "the message is not in the new chat");
    assert_eq!(stage.calls("editMessageText").await, 1);
}

#[tokio::test]
async fn an_album_with_buttons_is_refused_rather_than_sent_without_them() {
    let stage = Stage::telegram().await;
    let meta = Meta { buttons: vec![vec![link("One", "https://e.ru/1")]], ..Meta::default() };
    let album = [file(MediaKind::Image, "a.png"), file(MediaKind::Image, "b.png")];
    let error = stage.messenger.send_media(&stage.channel, &album, None, &meta).await.unwrap_err();
    assert_eq!((class(&error), error.code.as_str()), (PERMANENT_DELIVERY, "validation_failed"));
    assert!(stage.sent().await.is_empty());
}

#[tokio::test]
async fn an_album_that_telegram_cannot_take_is_a_matter_of_the_message() {
    let stage = Stage::telegram().await;
    let mixed = [file(MediaKind::File, "a.pdf"), file(MediaKind::Image, "b.png")];
    let too_many = vec![file(MediaKind::Image, "a.png"); 11];
    for album in [&mixed[..], &too_many[..]] {
        let error = stage.media(album, None).await.unwrap_err();
        assert_eq!((class(&error), error.outcome_unknown()), (PERMANENT_DELIVERY, false), "{error}");
    }
}

#[tokio::test]
async fn an_id_goes_as_a_number_and_a_name_as_text() {
    let stage = Stage::telegram().await;
    for (target_id, expected) in [("-1001234567890", json!(-1_001_234_567_890_i64)), ("42", json!(42)), ("@news", json!("@news"))]
    {
        let channel = Channel { target_id: target_id.to_owned(), ..stage.channel.clone() };
        stage.messenger.send_text(&channel, "x", &Meta::default()).await.unwrap();
        assert_eq!(stage.last().await["params"]["chat_id"], expected);
    }
}

#[tokio::test]
async fn telegram_fetches_any_kind_by_its_address() {
    let stage = Stage::telegram().await;
    for (kind, method) in [(MediaKind::Video, "sendVideo"), (MediaKind::Audio, "sendAudio"), (MediaKind::File, "sendDocument")] {
        let media = [by_url(kind, "https://example.com/a.bin")];
        let answer = stage.media(&media, None).await.unwrap();
        assert!(answer.file_ids[0].is_some());
        assert_eq!(stage.last().await["method"], method);
    }
}
