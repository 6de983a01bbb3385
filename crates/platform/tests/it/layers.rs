//! What every request passes through, whatever its handler does.

use std::time::Duration;

use axum::{Router, routing::get};
use platform::http::{Limits, wrap};
use serde_json::Value;

async fn ask(limits: Limits, path: &str) -> (u16, Value) {
    let routes = Router::new()
        .route("/panic", get(async || -> &'static str { panic!("a handler panics on purpose") }))
        .route("/hang", get(async || std::future::pending::<&'static str>().await));
    testkit::http::ask(&wrap(routes, limits), None, "GET", path, None).await
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
