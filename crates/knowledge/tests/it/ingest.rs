//! WF10: raw update, key and job, once.

use axum::{body::Body, http::Request};
use serde_json::json;
use testkit::http::send;

use crate::world::{Archive, message};

async fn hook(archive: &Archive, secret: &str, body: impl Into<Body>) -> (u16, serde_json::Value) {
    let request = Request::post("/hooks/telegram").header("x-telegram-bot-api-secret-token", secret).body(body.into());
    let request = request.expect("a request");
    let reply = send(&archive.router, request).await;
    (reply.status, reply.json())
}

#[tokio::test]
async fn the_same_update_again_is_the_same_job_and_nothing_new() {
    let archive = Archive::new().await;
    let update = message(900, 1, "привет").to_string();
    let (status, first) = hook(&archive, archive.secret, update.clone()).await;
    assert_eq!((status, &first["ok"]), (200, &json!(true)), "{first}");
    let job = first["data"]["job_id"].as_i64().expect("a job");
    let (_, again) = hook(&archive, archive.secret, update).await;
    assert_eq!(again["data"]["job_id"], job);
    assert_eq!(archive.count("raw.telegram_updates").await, 1);
    assert_eq!(archive.count("raw.telegram_update_keys").await, 1);
    assert_eq!(archive.count("ops.jobs").await, 1);
    let payload = archive.ask("(select payload from ops.jobs)").await;
    assert!(!payload.to_string().contains("привет"), "a payload carries ids: {payload}");
}

#[tokio::test]
async fn the_same_update_again_after_its_work_is_done_is_still_the_same_job() {
    let archive = Archive::new().await;
    let (_, first) = hook(&archive, archive.secret, message(901, 1, "привет").to_string()).await;
    archive.work().await;
    let (_, again) = hook(&archive, archive.secret, message(901, 1, "привет").to_string()).await;
    assert_eq!(first["data"]["job_id"], again["data"]["job_id"]);
    assert_eq!(archive.work().await["picked"], 0);
}

#[tokio::test]
async fn copies_of_an_update_at_the_same_time_are_taken_once() {
    let archive = Archive::new().await;
    let update = message(902, 1, "разом").to_string();
    let copies = (0..8).map(|_| hook(&archive, archive.secret, update.clone()));
    let jobs: std::collections::BTreeSet<i64> =
        futures::future::join_all(copies).await.iter().map(|(_, body)| body["data"]["job_id"].as_i64().unwrap()).collect();
    assert_eq!(jobs.len(), 1);
    assert_eq!(archive.count("raw.telegram_updates").await, 1);
}

#[tokio::test]
async fn what_cannot_be_read_is_acknowledged_kept_and_shown() {
    let archive = Archive::new().await;
    for body in ["{", "[1, 2]", "\"x\"", "{\"update_id\": \"abc\"}", "{\"text\": \"\\u0000\"}"] {
        let (status, answer) = hook(&archive, archive.secret, body).await;
        assert_eq!(status, 200, "{body}: {answer}");
    }
    assert_eq!(archive.count("raw.telegram_updates").await, 5);
    assert_eq!(archive.count("ops.errors").await, 5);
    assert_eq!(archive.count("ops.jobs").await, 0);
}

#[tokio::test]
async fn a_wrong_secret_is_refused_and_leaves_nothing() {
    let archive = Archive::new().await;
    let (status, _) = hook(&archive, "another-secret", message(903, 1, "x").to_string()).await;
    assert_eq!(status, 401);
    assert_eq!(archive.count("raw.telegram_updates").await, 0);
}

#[tokio::test]
async fn an_update_of_a_known_kind_that_makes_no_sense_is_kept_with_the_reason() {
    let archive = Archive::new().await;
    hook(&archive, archive.secret, json!({"update_id": 904, "message": {"chat": {"id": 1}}}).to_string()).await;
    assert_eq!(archive.work().await, json!({"picked": 1, "succeeded": 1, "failed": 0}));
    let problem = archive.ask("(select problem from raw.telegram_updates)").await;
    assert!(problem.as_str().unwrap().contains("chat.type"), "{problem}");
    assert_eq!(archive.list("select message from ops.errors").await, [problem]);
    // Another attempt at the same update is no other error.
    let raw = archive.ask("(select id from raw.telegram_updates)").await;
    archive.data("WF20", json!({"raw_id": raw})).await;
    assert_eq!(archive.count("ops.errors").await, 1);
}
