//! Texts: markup, sound, previews, addresses, and what is kept of the answer.

use messengers::{Meta, ParseMode};
use serde_json::json;

use crate::harness::Stage;

#[tokio::test]
async fn a_text_arrives_in_each_parse_mode() {
    for stage in Stage::both().await {
        for (parse_mode, text, shown, names) in [
            (ParseMode::Html, "<b>Hi</b> &amp; bye", "Hi & bye", [json!("HTML"), json!("html")]),
            (ParseMode::Markdown, "*Hi* bye", "Hi bye", [json!("Markdown"), json!("markdown")]),
            (ParseMode::None, "<b>*as it is* & so", "<b>*as it is* & so", [json!(null), json!(null)]),
        ] {
            let meta = Meta { parse_mode, ..Meta::default() };
            let answer = stage.messenger.send_text(&stage.channel, text, &meta).await.unwrap();
            let sent = stage.last().await;
            assert_eq!(sent["text"], shown, "{}", stage.provider);
            assert_eq!(sent["parse_mode"], names[stage.pick(0, 1)], "{}", stage.provider);
            let id = &sent["message_ids"][0];
            let id = id.as_str().map_or_else(|| id.to_string(), ToOwned::to_owned);
            assert_eq!(answer.provider_message_ids, [id.as_str()]);
            assert_eq!(answer.provider_message_id, id);
            assert!(answer.file_ids.is_empty() && answer.migrated_to.is_none());
        }
        assert_eq!(stage.calls(stage.send_method()).await, 3, "one call for each");
    }
}

#[tokio::test]
async fn a_silent_text_without_a_preview_says_so() {
    for stage in Stage::both().await {
        let meta = Meta { is_silent: true, disable_preview: true, ..Meta::default() };
        stage.messenger.send_text(&stage.channel, "https://e.ru", &meta).await.unwrap();
        let params = stage.last().await["params"].clone();
        if stage.is_telegram() {
            assert_eq!(params["disable_notification"], true);
            assert_eq!(params["link_preview_options"], json!({"is_disabled": true}));
        } else {
            assert_eq!(params["notify"], false);
            assert_eq!(params["disable_link_preview"], "true");
        }
        stage.text("https://e.ru").await;
        let params = stage.last().await["params"].clone();
        assert!(params["disable_notification"].is_null() && params["notify"].is_null(), "{params}");
        assert!(params["disable_link_preview"].is_null() && params["link_preview_options"]["is_disabled"] != true, "{params}");
    }
}

#[tokio::test]
async fn the_answer_is_kept_redacted_and_cut() {
    for stage in Stage::both().await {
        let text = format!("write to somebody@example.com {}", "ы".repeat(3000));
        let answer = stage.text(&text).await;
        assert_eq!(stage.last().await["text"], text, "the message itself is whole");
        let raw = answer.raw.redacted().to_string();
        assert!(raw.contains("[email]") && !raw.contains("somebody@"), "{raw}");
        assert!(raw.chars().count() < 2000, "{raw}");
    }
}

#[tokio::test]
async fn the_longest_text_passes_and_one_letter_more_does_not() {
    for stage in Stage::both().await {
        let longest = "я".repeat(stage.pick(4096, 4000));
        stage.text(&longest).await;
        let error = stage.text_refusal(&format!("{longest}я")).await;
        assert_eq!(crate::harness::class(&error), crate::harness::PERMANENT_DELIVERY);
        assert_eq!(error.code, stage.pick("400", "proto.payload"));
    }
}
