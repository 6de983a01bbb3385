//! Buttons: rows, links and payloads, and what the provider refuses.

use messengers::{Button, Meta};
use serde_json::{Value, json};

use crate::harness::{PERMANENT_DELIVERY, Stage, class, link};

/// The rows of buttons in an accepted call.
fn rows(sent: &Value) -> Value {
    if sent["provider"] == "telegram" {
        return Stage::param(sent, "reply_markup")["inline_keyboard"].clone();
    }
    let attachments = sent["params"]["attachments"].as_array().cloned().unwrap_or_default();
    let keyboard = attachments.into_iter().find(|attachment| attachment["type"] == "inline_keyboard");
    keyboard.map_or(Value::Null, |keyboard| keyboard["payload"]["buttons"].clone())
}

#[tokio::test]
async fn buttons_arrive_in_their_rows() {
    for stage in Stage::both().await {
        let press = Button { text: "Press".into(), url: None, payload: Some("order:1".into()) };
        let buttons = vec![vec![link("One", "https://e.ru/1"), link("Two", "https://e.ru/2")], vec![], vec![press]];
        let meta = Meta { buttons, ..Meta::default() };
        stage.messenger.send_text(&stage.channel, "choose", &meta).await.unwrap();
        let expected = stage.pick(
            json!([
                [{"text": "One", "url": "https://e.ru/1"}, {"text": "Two", "url": "https://e.ru/2"}],
                [{"text": "Press", "callback_data": "order:1"}],
            ]),
            json!([
                [
                    {"type": "link", "text": "One", "url": "https://e.ru/1"},
                    {"type": "link", "text": "Two", "url": "https://e.ru/2"},
                ],
                [{"type": "callback", "text": "Press", "payload": "order:1"}],
            ]),
        );
        assert_eq!(rows(&stage.last().await), expected);
    }
}

#[tokio::test]
async fn a_message_without_buttons_has_no_keyboard() {
    for stage in Stage::both().await {
        for buttons in [vec![], vec![vec![]]] {
            let meta = Meta { buttons, ..Meta::default() };
            stage.messenger.send_text(&stage.channel, "x", &meta).await.unwrap();
            let params = stage.last().await["params"].clone();
            assert!(params["reply_markup"].is_null() && params["attachments"].is_null(), "{params}");
        }
    }
}

#[tokio::test]
async fn a_button_that_does_nothing_is_refused_as_the_fault_of_the_message() {
    for stage in Stage::both().await {
        let idle = Button { text: "Idle".into(), url: None, payload: None };
        let meta = Meta { buttons: vec![vec![idle]], ..Meta::default() };
        let error = stage.messenger.send_text(&stage.channel, "x", &meta).await.unwrap_err();
        assert_eq!(class(&error), PERMANENT_DELIVERY, "{error}");
        let meta = Meta { buttons: vec![vec![link("Bad", "not an address")]], ..Meta::default() };
        let error = stage.messenger.send_text(&stage.channel, "x", &meta).await.unwrap_err();
        assert_eq!(class(&error), PERMANENT_DELIVERY, "{error}");
    }
}

#[tokio::test]
async fn media_may_have_buttons() {
    for stage in Stage::both().await {
        let meta = Meta { buttons: vec![vec![link("One", "https://e.ru/1")]], ..Meta::default() };
        let photo = crate::harness::file(messengers::MediaKind::Image, "a.png");
        let answer = stage.messenger.send_media(&stage.channel, &[photo], Some("look"), &meta).await.unwrap();
        assert_eq!(rows(&stage.last().await).as_array().unwrap().len(), 1);
        assert_eq!(answer.file_ids.len(), 1, "the keyboard is no medium");
    }
}
