//! The way there and back: lost answers, dead ports, waits, and the key that never comes out.

use std::time::Duration;

use kernel::{AdapterError, Category, ErrorKind, ErrorScope};
use llm::{EmbedTask, Embedder, GeminiEmbedder, GeminiSettings, OpenAiEmbedOptions, OpenAiEmbedder, OpenAiSettings};
use outbound::ClientSettings;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket};

use crate::harness::{Fake, KEY, Told, numbered, told};

async fn refusals(fake: &Fake) -> [AdapterError; 2] {
    let [gemini, openai] = [fake.gemini_embedder(), fake.openai_embedder(OpenAiEmbedOptions::default())];
    [
        gemini.embed(&numbered(1), EmbedTask::Document).await.unwrap_err(),
        openai.embed(&numbered(1), EmbedTask::Document).await.unwrap_err(),
    ]
}

fn at(base_url: &str, client: &ClientSettings) -> [Embedder; 2] {
    let key = || kernel::Secret::new(KEY);
    let client = Some(client.clone());
    let gemini = GeminiSettings { base_url: base_url.into(), client: client.clone(), ..GeminiSettings::new(key(), "m") };
    let openai = OpenAiSettings { client, ..OpenAiSettings::new(base_url, Some(key()), "m") };
    [GeminiEmbedder::new(gemini).unwrap().into(), OpenAiEmbedder::new(openai, OpenAiEmbedOptions::default()).unwrap().into()]
}

#[tokio::test]
async fn a_lost_answer_is_a_timeout_because_nothing_was_changed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.readable().await.unwrap();
            drop(stream);
        }
    });
    for embedder in at(&url, &ClientSettings::default()) {
        let error = embedder.embed(&numbered(1), EmbedTask::Query).await.unwrap_err();
        assert_eq!((error.category, error.scope, error.kind), (Category::Transient, ErrorScope::Platform, ErrorKind::Timeout));
        assert!(!error.outcome_unknown());
    }
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_a_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let hasty = ClientSettings { request_timeout: Duration::from_millis(50), ..ClientSettings::default() };
    for embedder in at(&url, &hasty) {
        let error = embedder.embed(&numbered(1), EmbedTask::Query).await.unwrap_err();
        assert_eq!((error.kind, error.code.as_str()), (ErrorKind::Timeout, "no_answer"), "{error}");
    }
    drop(listener);
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_unavailable_and_its_address_is_not_told() {
    // Bound and not listening: nobody answers there, and nobody else can take the port meanwhile.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    for embedder in at(&format!("http://127.0.0.1:{port}/secret-path"), &ClientSettings::default()) {
        let error = embedder.embed(&numbered(1), EmbedTask::Query).await.unwrap_err();
        assert_eq!((error.category, error.kind), (Category::Transient, ErrorKind::Unavailable));
        assert!(!format!("{error:?}").contains("secret-path"), "{error:?}");
    }
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_does_not_come_out() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}."), "code": KEY, "type": KEY}});
    for error in refusals(&Fake::saying(401, body).await).await {
        assert_eq!((error.category, error.kind), (Category::Permanent, ErrorKind::Unauthorized));
        assert!(!format!("{error:?}").contains(KEY) && error.message.contains("[secret]"), "{error:?}");
    }
}

#[tokio::test]
async fn the_wait_in_the_header_is_told() {
    let body = json!({"error": {"message": "slow down"}}).to_string().into_bytes();
    let fake = Fake::start(move |_| Told { status: 429, retry_after: Some("7"), body: body.clone() }).await;
    for error in refusals(&fake).await {
        assert_eq!((error.kind, error.retry_after_ms), (ErrorKind::RateLimited, Some(7000)));
    }
}

#[tokio::test]
async fn the_wait_in_the_words_of_google_is_told_also_from_a_list_of_one() {
    let error = json!({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"}]}});
    for body in [error.clone(), json!([error])] {
        for error in refusals(&Fake::saying(429, body).await).await {
            assert_eq!((error.kind, error.retry_after_ms), (ErrorKind::RateLimited, Some(31_000)));
        }
    }
}

#[tokio::test]
async fn a_failure_in_a_later_batch_fails_the_whole() {
    let fake = Fake::start(|asked| {
        let is_last = asked.json()["requests"].as_array().unwrap().len() == 1;
        if is_last {
            told(503, &json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}))
        } else {
            crate::harness::gemini_vectors(asked)
        }
    })
    .await;
    let error = fake.gemini_embedder().embed(&numbered(101), EmbedTask::Document).await.unwrap_err();
    assert_eq!((error.kind, error.code.as_str(), fake.asked().len()), (ErrorKind::Unavailable, "UNAVAILABLE", 2));
}

#[tokio::test]
async fn a_failure_with_a_status_of_success_is_a_failure() {
    for error in refusals(&Fake::saying(200, json!({"error": {"message": "the model is loading", "code": 503}})).await).await {
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Unavailable, "the model is loading"));
    }
}

#[tokio::test]
async fn a_success_that_is_a_page_is_unreadable() {
    let fake = Fake::start(|_| Told { status: 200, retry_after: None, body: b"<html>hello</html>".to_vec() }).await;
    for error in refusals(&fake).await {
        assert_eq!(
            (error.category, error.kind, error.code.as_str()),
            (Category::Transient, ErrorKind::Unavailable, "unreadable_answer")
        );
    }
}
