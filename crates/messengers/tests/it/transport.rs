//! The way there and back: lost answers, dead ports, answers too large, redirects, and the token that never comes out.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use std::time::Duration;

use axum::{Router, http::StatusCode, http::header::LOCATION, routing::any};
use messengers::{MediaKind, Meta};
use outbound::ClientSettings;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket};

use crate::harness::{BODY_BYTES_MAX, Stage, TRANSIENT_PLATFORM, adapter, adapter_with, all_of, class, file};

#[tokio::test]
async fn a_message_whose_answer_was_lost_may_have_been_sent() {
    for stage in Stage::both().await {
        stage.control("faults", json!({"method": stage.send_method(), "drop": "after"})).await;
        let error = stage.text_refusal("lost").await;
        assert_eq!((class(&error), error.code.as_str(), error.outcome_unknown()), (TRANSIENT_PLATFORM, "no_answer", true));
        let sent = stage.sent().await;
        assert_eq!((sent.len(), &sent[0]["text"], &sent[0]["answered"]), (1, &json!("lost"), &json!(false)));
    }
}

#[tokio::test]
async fn a_request_that_left_and_was_dropped_is_unknown_too() {
    for stage in Stage::both().await {
        stage.control("faults", json!({"drop": "before"})).await;
        let error = stage.text_refusal("x").await;
        assert_eq!((class(&error), error.outcome_unknown()), (TRANSIENT_PLATFORM, true), "nobody can tell it from the other");
        assert!(stage.sent().await.is_empty());
    }
}

#[tokio::test]
async fn an_album_whose_answer_was_lost_may_have_been_sent() {
    for stage in Stage::both().await {
        let method = stage.pick("sendMediaGroup", "POST /messages");
        stage.control("faults", json!({"method": method, "drop": "after"})).await;
        let album = [file(MediaKind::Image, "a.png"), file(MediaKind::Image, "b.png")];
        let error = stage.media(&album, None).await.unwrap_err();
        assert!(error.outcome_unknown(), "{error}");
        assert_eq!(stage.last().await["answered"], false);
    }
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_unknown() {
    for stage in Stage::both().await {
        stage.control("faults", json!({"delay_ms": 600_000})).await;
        let settings = ClientSettings { request_timeout: Duration::from_millis(100), ..ClientSettings::default() };
        let (hasty, channel) = adapter_with(&settings, stage.provider, &stage.base_url());
        let error = hasty.send_text(&channel, "x", &Meta::default()).await.unwrap_err();
        assert_eq!((class(&error), error.outcome_unknown()), (TRANSIENT_PLATFORM, true), "{error}");
    }
}

#[tokio::test]
async fn an_answer_too_large_is_unknown() {
    for stage in Stage::both().await {
        let body = json!({"ok": true, "result": "x".repeat(2 * BODY_BYTES_MAX)});
        stage.control("faults", json!({"status": 200, "body": body})).await;
        let error = stage.text_refusal("x").await;
        assert_eq!((class(&error), error.outcome_unknown()), (TRANSIENT_PLATFORM, true));
        assert!(all_of(&error).len() < 2000, "and is not kept");
    }
}

#[tokio::test]
async fn a_dead_port_is_known_to_have_done_nothing_and_tells_no_token() {
    // Bound and not listening: nobody answers there, and nobody else can take the port meanwhile.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let base = format!("http://{}", socket.local_addr().unwrap());
    for provider in ["telegram", "max"] {
        let (messenger, channel) = adapter(provider, &base);
        let media = [file(MediaKind::Image, "a.png")];
        for error in [
            messenger.send_text(&channel, "x", &Meta::default()).await.unwrap_err(),
            messenger.send_media(&channel, &media, None, &Meta::default()).await.unwrap_err(),
            messenger.edit_text(&channel, "1", "x", &Meta::default()).await.unwrap_err(),
            messenger.delete(&channel, "1").await.unwrap_err(),
            messenger.check(&channel.token).await.unwrap_err(),
        ] {
            assert_eq!((class(&error), error.code.as_str()), (TRANSIENT_PLATFORM, "unreachable"));
            assert!(!error.outcome_unknown());
            assert!(!all_of(&error).contains(channel.token.expose()), "{error}");
        }
        assert!(!format!("{messenger:?} {channel:?}").contains(channel.token.expose()));
    }
}

#[tokio::test]
async fn a_token_that_the_provider_repeats_is_cut_out() {
    for stage in Stage::both().await {
        let token = stage.channel.token.expose().to_owned();
        let text = format!("no such path: /bot{token}/sendMessage and {}", token.replace(':', "%3A"));
        for (status, body) in [
            (400, stage.pick(json!({"ok": false, "description": text}), json!({"code": "proto.payload", "message": text}))),
            (500, json!(text)),
            (200, json!({"echo": text})),
        ] {
            stage.control("faults", json!({"status": status, "body": body})).await;
            let error = stage.text_refusal("x").await;
            let secret = token.rsplit(':').next().unwrap();
            assert!(!all_of(&error).contains(secret), "{error:?}");
        }
        let answer = stage.text(&text).await;
        assert!(!format!("{answer:?}").contains(&token), "{answer:?}");
        for fault in [json!({"drop": "before"}), json!({"drop": "after"})] {
            stage.control("faults", fault).await;
            assert!(!all_of(&stage.text_refusal("x").await).contains(&token));
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Arc::new(AtomicUsize::new(0));
    let hits = Arc::clone(&elsewhere);
    let router = Router::new()
        .route("/elsewhere", any(async move || hits.fetch_add(1, Ordering::Relaxed).to_string()))
        .fallback(any(|| async { (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, "/elsewhere")]) }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    for provider in ["telegram", "max"] {
        let (messenger, channel) = adapter(provider, &base);
        let error = messenger.send_text(&channel, "x", &Meta::default()).await.unwrap_err();
        assert_eq!((class(&error), error.code.as_str(), error.outcome_unknown()), (TRANSIENT_PLATFORM, "307", false));
    }
    assert_eq!(elsewhere.load(Ordering::Relaxed), 0);
}
