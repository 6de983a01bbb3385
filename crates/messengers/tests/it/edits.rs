//! Edits and deletions. Both may be repeated without harm.

use messengers::{MediaKind, Meta, ParseMode};
use serde_json::json;

use crate::harness::{PERMANENT_DELIVERY, Stage, TRANSIENT_PLATFORM, class, file, link};

#[tokio::test]
async fn a_text_is_edited_with_its_markup_and_its_buttons() {
    for stage in Stage::both().await {
        let meta = Meta { buttons: vec![vec![link("One", "https://e.ru/1")]], ..Meta::default() };
        let id = stage.messenger.send_text(&stage.channel, "before", &meta).await.unwrap().provider_message_id;
        let meta = Meta { parse_mode: ParseMode::Html, ..Meta::default() };
        let edited = stage.messenger.edit_text(&stage.channel, &id, "<b>after</b>", &meta).await.unwrap();
        assert_eq!((edited.provider_message_id.as_str(), edited.provider_message_ids.len()), (id.as_str(), 1));
        let sent = stage.last().await;
        assert_eq!(sent["method"], stage.pick("editMessageText", "PUT /messages"));
        assert_eq!(sent["text"], "after");
        // A keyboard that Telegram is not told of is gone; MAX is told that there is none.
        assert!(sent["params"]["reply_markup"].is_null());
        assert_eq!(sent["params"]["attachments"], stage.pick(json!(null), json!([])));
    }
}

#[tokio::test]
async fn an_edit_that_changes_nothing_is_a_success() {
    for stage in Stage::both().await {
        let id = stage.text("same").await.provider_message_id;
        for _ in 0..2 {
            let edited = stage.messenger.edit_text(&stage.channel, &id, "same", &Meta::default()).await.unwrap();
            assert_eq!(edited.provider_message_id, id);
        }
    }
}

#[tokio::test]
async fn a_caption_is_edited_and_the_media_stay() {
    for stage in Stage::both().await {
        let photo = [file(MediaKind::Image, "a.png")];
        let sent = stage.media(&photo, Some("before")).await.unwrap();
        let id = sent.provider_message_id;
        for _ in 0..2 {
            stage.messenger.edit_caption(&stage.channel, &id, "after", &Meta::default()).await.unwrap();
        }
        let sent = stage.last().await;
        assert_eq!(sent["method"], stage.pick("editMessageCaption", "PUT /messages"));
        assert_eq!(sent["text"], "after");
        if !stage.is_telegram() {
            let params = sent["params"].as_object().unwrap();
            assert_eq!(params.get("attachments"), Some(&json!(null)), "null keeps them");
        }
    }
}

#[tokio::test]
async fn a_message_that_is_not_there_cannot_be_edited() {
    for stage in Stage::both().await {
        let id = stage.text("x").await.provider_message_id;
        stage.messenger.delete(&stage.channel, &id).await.unwrap();
        let error = stage.messenger.edit_text(&stage.channel, &id, "y", &Meta::default()).await.unwrap_err();
        assert_eq!(class(&error), PERMANENT_DELIVERY, "{error}");
        let error = stage.messenger.edit_caption(&stage.channel, &id, "y", &Meta::default()).await.unwrap_err();
        assert_eq!(class(&error), PERMANENT_DELIVERY, "{error}");
    }
}

#[tokio::test]
async fn a_message_is_deleted_and_may_be_deleted_again() {
    for stage in Stage::both().await {
        let id = stage.text("x").await.provider_message_id;
        stage.messenger.delete(&stage.channel, &id).await.unwrap();
        stage.messenger.delete(&stage.channel, &id).await.unwrap();
        let deletions = stage.calls(stage.pick("deleteMessage", "DELETE /messages")).await;
        assert_eq!((deletions, stage.sent().await.len()), (2, 2), "the second one found nothing");
    }
}

#[tokio::test]
async fn an_edit_or_a_deletion_whose_answer_is_lost_may_be_repeated() {
    for stage in Stage::both().await {
        let id = stage.text("before").await.provider_message_id;
        stage.control("faults", json!({"drop": "after"})).await;
        let error = stage.messenger.edit_text(&stage.channel, &id, "after", &Meta::default()).await.unwrap_err();
        assert_eq!((class(&error), error.outcome_unknown()), (TRANSIENT_PLATFORM, false));
        assert_eq!(stage.last().await["text"], "after", "it was done");
        stage.messenger.edit_text(&stage.channel, &id, "after", &Meta::default()).await.unwrap();
        stage.control("faults", json!({"drop": "after"})).await;
        let error = stage.messenger.delete(&stage.channel, &id).await.unwrap_err();
        assert_eq!((class(&error), error.outcome_unknown()), (TRANSIENT_PLATFORM, false));
        stage.messenger.delete(&stage.channel, &id).await.unwrap();
    }
}
