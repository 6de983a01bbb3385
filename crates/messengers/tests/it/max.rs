//! What only MAX does: uploads, attachments that are not ready, successes that say false.

use std::sync::{Arc, Mutex};

use axum::{Json, Router, extract::State, http::HeaderMap, routing::post};
use messengers::{MediaKind, Meta};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::harness::{
    MAX_TOKEN, PERMANENT_DELIVERY, Stage, TRANSIENT_DELIVERY, TRANSIENT_PLATFORM, adapter, all_of, by_url, class, file, link,
};

#[tokio::test]
async fn an_attachment_that_becomes_ready_in_time_is_sent_without_a_new_upload() {
    let stage = Stage::max().await;
    stage.control("limits", json!({"not_ready_sends": 4})).await;
    let media = [file(MediaKind::Video, "a.mp4")];
    stage.media(&media, Some("at last")).await.unwrap();
    assert_eq!(stage.calls("POST /messages").await, 5);
    assert_eq!(stage.calls("POST /uploads").await, 1);
    assert_eq!(stage.sent().await.iter().filter(|sent| sent["text"] == "at last").count(), 1);
}

#[tokio::test]
async fn an_attachment_that_does_not_become_ready_is_the_callers_to_wait_for() {
    let stage = Stage::max().await;
    stage.control("limits", json!({"not_ready_sends": 5})).await;
    let uploaded = stage.messenger.upload(&stage.channel, &file(MediaKind::File, "a.pdf")).await.unwrap().unwrap();
    let media = [crate::harness::by_id(MediaKind::File, &uploaded.file_id)];
    let error = stage.media(&media, None).await.unwrap_err();
    assert_eq!((class(&error), error.code.as_str()), (TRANSIENT_DELIVERY, "attachment.not.ready"));
    assert!(!error.outcome_unknown(), "a message that was refused was not made");
    assert_eq!(stage.calls("POST /messages").await, 1 + messengers::NOT_READY_PAUSES.len());
    stage.media(&media, None).await.unwrap();
}

#[tokio::test]
async fn a_file_that_the_upload_host_refuses_is_the_fault_of_the_message() {
    let stage = Stage::max().await;
    let media = [file(MediaKind::File, "setup.exe")];
    let error = stage.media(&media, None).await.unwrap_err();
    assert_eq!((class(&error), error.code.as_str()), (PERMANENT_DELIVERY, "415"));
    assert_eq!(stage.calls("POST /messages").await, 0);
}

#[tokio::test]
async fn an_upload_that_fails_has_sent_nothing() {
    let stage = Stage::max().await;
    let media = [file(MediaKind::Image, "a.png")];
    for method in ["POST /uploads", "POST /upload"] {
        for fault in [json!({"status": 503}), json!({"drop": "after"}), json!({"status": 200, "body": "<html>"})] {
            let mut fault = fault;
            fault["method"] = json!(method);
            stage.control("faults", fault).await;
            let error = stage.media(&media, None).await.unwrap_err();
            assert_eq!((class(&error), error.outcome_unknown()), (TRANSIENT_PLATFORM, false), "{method}: {error}");
        }
    }
    assert_eq!(stage.calls("POST /messages").await, 0);
}

#[tokio::test]
async fn what_max_takes_only_as_bytes_is_refused_before_anything_is_uploaded() {
    let stage = Stage::max().await;
    for kind in [MediaKind::Video, MediaKind::Audio, MediaKind::File] {
        let media = [file(MediaKind::Image, "a.png"), by_url(kind, "https://example.com/a.bin")];
        let error = stage.media(&media, None).await.unwrap_err();
        assert_eq!((class(&error), error.code.as_str()), (PERMANENT_DELIVERY, "validation_failed"));
    }
    assert_eq!(stage.calls("POST /uploads").await, 0);
}

#[tokio::test]
async fn an_album_may_have_buttons() {
    let stage = Stage::max().await;
    let meta = Meta { buttons: vec![vec![link("One", "https://e.ru/1")]], ..Meta::default() };
    let album = [file(MediaKind::Image, "a.png"), file(MediaKind::Image, "b.png")];
    let answer = stage.messenger.send_media(&stage.channel, &album, None, &meta).await.unwrap();
    assert_eq!(answer.file_ids.len(), 2);
    assert_eq!(stage.last().await["params"]["attachments"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_success_that_says_false_is_a_refusal() {
    let stage = Stage::max().await;
    let id = stage.text("x").await.provider_message_id;
    for method in ["PUT /messages", "DELETE /messages"] {
        let body = json!({"success": false, "message": "too late"});
        stage.control("faults", json!({"method": method, "status": 200, "body": body})).await;
        let error = if method == "PUT /messages" {
            stage.messenger.edit_text(&stage.channel, &id, "y", &Meta::default()).await.unwrap_err()
        } else {
            stage.messenger.delete(&stage.channel, &id).await.unwrap_err()
        };
        assert_eq!((class(&error), error.message.as_str()), (PERMANENT_DELIVERY, "too late"));
    }
}

/// A provider that gives an address of the test's choosing, and keeps the headers of what comes to its upload host.
#[derive(Clone)]
struct Host {
    address: String,
    uploads: Arc<Mutex<Vec<HeaderMap>>>,
}

impl Host {
    /// `{base}` in the address stands for the host itself.
    async fn start(address: &str) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let host = Self { address: address.replace("{base}", &base), uploads: Arc::default() };
        let router = Router::new()
            .route("/uploads", post(async |State(host): State<Self>| Json(json!({"url": host.address}))))
            .route("/bytes", post(async |State(host): State<Self>, headers: HeaderMap| host.take(headers)))
            .with_state(host.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (host, base)
    }

    fn take(&self, headers: HeaderMap) -> Json<Value> {
        self.uploads.lock().unwrap().push(headers);
        Json(json!({"photos": {"key": {"token": "the-photo"}}}))
    }
}

#[tokio::test]
async fn the_upload_host_gets_bytes_and_no_token() {
    let (host, base) = Host::start("{base}/bytes?signature=1").await;
    let (messenger, channel) = adapter("max", &base);
    let uploaded = messenger.upload(&channel, &file(MediaKind::Image, "a.png")).await.unwrap().unwrap();
    assert_eq!(uploaded.file_id, "the-photo");
    let uploads = host.uploads.lock().unwrap();
    assert_eq!(uploads.len(), 1);
    assert!(!uploads[0].contains_key("authorization"));
    assert!(!format!("{uploads:?}").contains(MAX_TOKEN));
}

#[tokio::test]
async fn an_upload_address_that_is_no_web_address_gets_nothing() {
    for address in ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://name:word@127.0.0.1/x", "/bytes", ""] {
        let (host, base) = Host::start(address).await;
        let (messenger, channel) = adapter("max", &base);
        let error = messenger.upload(&channel, &file(MediaKind::Image, "a.png")).await.unwrap_err();
        assert_eq!((class(&error), error.code.as_str()), (TRANSIENT_PLATFORM, "unreadable_answer"), "{address}");
        assert!(!all_of(&error).contains("name:word"), "{error:?}");
        assert!(host.uploads.lock().unwrap().is_empty());
    }
}
