//! What every request passes through, whatever its handler does.

use std::time::Duration;

use axum::{Router, routing::get};
use platform::http::{Limits, take_up_to, wrap};
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

#[tokio::test(start_paused = true)]
async fn a_handler_that_asks_for_more_time_gets_it_and_no_more() {
    let routes = Router::new()
        .route(
            "/slow",
            get(async || {
                take_up_to(Duration::from_mins(30));
                tokio::time::sleep(Duration::from_mins(20)).await;
                "done"
            }),
        )
        .route(
            "/too-slow",
            get(async || {
                take_up_to(Duration::from_mins(30));
                std::future::pending::<&'static str>().await
            }),
        );
    let routes = wrap(routes, Limits::default());
    let reply = testkit::http::send(&routes, testkit::http::request(None, "GET", "/slow", None)).await;
    assert_eq!(reply.status, 200);
    let (status, body) = testkit::http::ask(&routes, None, "GET", "/too-slow", None).await;
    assert_eq!(status, 504, "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("1800 s"), "{body}");
}
