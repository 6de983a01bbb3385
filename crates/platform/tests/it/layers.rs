//! What every request passes through, whatever its handler does.

use std::time::Duration;

use axum::{Router, body::Body, http::Request, routing::get};
use platform::http::{Limits, wrap};
use serde_json::Value;
use tower::ServiceExt;

async fn ask(limits: Limits, path: &str) -> (u16, Value) {
    let routes = Router::new()
        .route("/panic", get(async || -> &'static str { panic!("a handler panics on purpose") }))
        .route("/hang", get(async || std::future::pending::<&'static str>().await));
    let response = wrap(routes, limits).oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_panic_in_a_handler_becomes_a_500_envelope_that_tells_nothing_of_the_inside() {
    let (status, body) = ask(Limits::default(), "/panic").await;
    assert_eq!((status, body["ok"].as_bool(), body["error"]["details"]["code"].as_str()), (500, Some(false), Some("internal")));
    assert!(!body.to_string().contains("on purpose"));
    assert!(body["meta"]["correlation"]["trace_id"].is_string());
}

#[tokio::test]
async fn a_handler_that_hangs_is_given_up() {
    let limits = Limits { request_timeout: Duration::from_millis(20), ..Limits::default() };
    let (status, body) = ask(limits, "/hang").await;
    assert_eq!(
        (status, body["error"]["kind"].as_str(), body["error"]["retryable"].as_bool()),
        (504, Some("timeout"), Some(true))
    );
}
