//! Refusals: every one is told apart by whether to try again, and by how much of the world it speaks of.

use kernel::{ErrorKind, Secret};
use messengers::{MediaKind, Meta};
use serde_json::json;

use crate::harness::{MAX_TOKEN, PERMANENT_CHANNEL, PERMANENT_DELIVERY, Stage, TELEGRAM_TOKEN, TRANSIENT_PLATFORM, class, file};

#[tokio::test]
async fn a_chat_that_cannot_be_written_to_is_a_matter_of_the_channel() {
    for stage in Stage::both().await {
        for state in ["unknown", "kicked", "left", "blocked", "no_rights"] {
            stage.chat_is(json!({"state": state})).await;
            let error = stage.text_refusal("x").await;
            assert_eq!((class(&error), error.outcome_unknown()), (PERMANENT_CHANNEL, false), "{state}: {error}");
            let album = [file(MediaKind::Image, "a.png"), file(MediaKind::Image, "b.png")];
            let error = stage.media(&album, None).await.unwrap_err();
            assert_eq!((class(&error), error.outcome_unknown()), (PERMANENT_CHANNEL, false), "{state}: {error}");
        }
        stage.chat_is(json!({"state": "ok"})).await;
        stage.text("x").await;
    }
}

#[tokio::test]
async fn a_flood_is_waited_out_for_as_long_as_the_provider_says() {
    for stage in Stage::both().await {
        let times = json!({"state": "flood", "seconds": 7});
        stage.chat_is(times).await;
        let error = stage.text_refusal("x").await;
        assert_eq!((class(&error), error.kind), (TRANSIENT_PLATFORM, ErrorKind::RateLimited));
        assert_eq!(error.retry_after_ms, stage.pick(Some(7000), None), "MAX does not say");
        stage.control("faults", json!({"status": 429, "retry_after": 5})).await;
        assert_eq!(stage.text_refusal("x").await.retry_after_ms, Some(5000), "but if it does, it is heard");
        stage.text("x").await;
        assert_eq!(stage.calls(stage.send_method()).await, 3, "the adapter itself does not repeat");
    }
}

#[tokio::test]
async fn each_status_has_its_class() {
    for stage in Stage::both().await {
        for (status, expected, kind) in [
            (400, PERMANENT_DELIVERY, ErrorKind::Invalid),
            (401, PERMANENT_CHANNEL, ErrorKind::Unauthorized),
            (403, PERMANENT_CHANNEL, ErrorKind::Forbidden),
            (404, PERMANENT_CHANNEL, ErrorKind::NotFound),
            (413, PERMANENT_DELIVERY, ErrorKind::Invalid),
            (429, TRANSIENT_PLATFORM, ErrorKind::RateLimited),
            (500, TRANSIENT_PLATFORM, ErrorKind::UnknownOutcome),
            (502, TRANSIENT_PLATFORM, ErrorKind::UnknownOutcome),
            (503, TRANSIENT_PLATFORM, ErrorKind::UnknownOutcome),
        ] {
            stage.control("faults", json!({"status": status})).await;
            let error = stage.text_refusal("x").await;
            assert_eq!((class(&error), error.kind), (expected, kind), "{status}: {error}");
            if stage.is_telegram() {
                assert_eq!(error.code, status.to_string());
            }
            assert!(error.raw.is_object(), "{:?}", error.raw);
        }
        assert!(stage.sent().await.is_empty());
    }
}

#[tokio::test]
async fn a_page_of_a_proxy_blames_neither_the_channel_nor_the_message() {
    for stage in Stage::both().await {
        for (status, unknown) in [(403, false), (404, false), (502, true), (200, true)] {
            stage.control("faults", json!({"status": status, "body": "<html>nginx</html>"})).await;
            let error = stage.text_refusal("x").await;
            assert_eq!((class(&error), error.outcome_unknown()), (TRANSIENT_PLATFORM, unknown), "{status}: {error}");
            assert_eq!(error.raw, "<html>nginx</html>");
        }
    }
}

#[tokio::test]
async fn a_text_that_the_provider_cannot_take_is_a_matter_of_the_message() {
    let stage = Stage::telegram().await;
    let meta = Meta { parse_mode: messengers::ParseMode::Html, ..Meta::default() };
    let error = stage.messenger.send_text(&stage.channel, "<b>open", &meta).await.unwrap_err();
    assert_eq!(class(&error), PERMANENT_DELIVERY);
    assert!(error.message.contains("can't parse entities"), "{error}");
    for stage in Stage::both().await {
        let error = stage.text_refusal("").await;
        assert_eq!((class(&error), error.outcome_unknown()), (PERMANENT_DELIVERY, false));
    }
}

#[tokio::test]
async fn a_token_is_probed_for_the_name_of_its_bot() {
    for stage in Stage::both().await {
        let token = &stage.channel.token;
        let name = stage.messenger.check(token).await.unwrap();
        assert!(name.starts_with("sim") && name.ends_with("_bot"), "{name}");
        stage.control("tokens", json!({"token": token.expose(), "valid": false})).await;
        for error in [stage.messenger.check(token).await.unwrap_err(), stage.text_refusal("x").await] {
            assert_eq!((class(&error), error.kind), (PERMANENT_CHANNEL, ErrorKind::Unauthorized), "{error}");
        }
        stage.control("tokens", json!({"token": token.expose(), "valid": true})).await;
        stage.messenger.check(token).await.unwrap();
        stage.control("faults", json!({"status": 503})).await;
        let error = stage.messenger.check(token).await.unwrap_err();
        assert_eq!((class(&error), error.kind), (TRANSIENT_PLATFORM, ErrorKind::Unavailable), "a probe may be repeated");
    }
}

#[tokio::test]
async fn a_token_that_no_request_can_carry_is_refused_without_a_call() {
    for stage in Stage::both().await {
        for token in [format!("{TELEGRAM_TOKEN}\r\nx: y"), format!("{MAX_TOKEN}\n/../me")] {
            let error = stage.messenger.check(&Secret::new(token.clone())).await.unwrap_err();
            assert_eq!((class(&error), error.code.as_str()), (PERMANENT_CHANNEL, "token_malformed"));
            assert_eq!(error.kind, ErrorKind::Unauthorized);
            assert!(!crate::harness::all_of(&error).contains(&token));
        }
    }
}
