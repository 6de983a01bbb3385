//! `beresta webhook`: webhooks as an operator types them, with a server that sends.

use std::{process::Output, sync::Arc, sync::Mutex};

use axum::{Router, http::HeaderMap, http::StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use testkit::TestDb;
use tokio::net::TcpListener;

use crate::support::{Serving, beresta, data_dir, stderr, stdout};

struct Stage {
    db: TestDb,
    dir: TempDir,
    /// Where the receiver listens.
    host: String,
    /// What it was sent: id and body.
    seen: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Stage {
    async fn new() -> Self {
        let db = TestDb::new().await;
        db.workspace("shop").await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let kept = Arc::clone(&seen);
        let router = Router::new().fallback(move |headers: HeaderMap, body: String| {
            kept.lock().unwrap().push((headers["webhook-id"].to_str().unwrap().to_owned(), serde_json::from_str(&body).unwrap()));
            async { (StatusCode::OK, "thank you") }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { db, dir: data_dir(), host, seen }
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let dir = self.dir.path().to_string_lossy().into_owned();
        let mut command = beresta(args);
        command
            .args(["--database-url", &self.db.url, "--data-dir", &dir])
            .env("BERESTA_FETCH_ALLOW", &self.host)
            .env("USER", "ann");
        command
    }

    /// A command is run apart, because the receiver is in this process.
    async fn run(&self, args: &[&str]) -> Output {
        let all: Vec<&str> = ["webhook"].iter().chain(args).chain(&["--workspace", "shop"]).copied().collect();
        let mut command = self.command(&all);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    async fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat()).await;
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    }

    /// What a refused command says.
    async fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args).await;
        assert!(!output.status.success(), "{args:?}: {}", stdout(&output));
        stderr(&output)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_adds_tests_and_resends_and_the_server_sends() {
    let stage = Stage::new().await;
    let url = format!("http://{}/hook", stage.host);
    let added = stage.json(&["add", "--name", "crm", "--url", &url, "--event", "post.*", "bot.*"]).await;
    assert!(added["secret"].as_str().unwrap().starts_with("whsec_"), "{added}");
    let _serving = Serving::start(stage.command(&["serve", "--listen", "127.0.0.1:0", "--roles", "dispatcher"]));
    let tested = stage.run(&["test", "crm"]).await;
    assert!(tested.status.success(), "{}{}", stdout(&tested), stderr(&tested));
    assert!(stdout(&tested).contains("webhook.test") && stdout(&tested).contains(": thank you"), "{}", stdout(&tested));
    let log = stage.json(&["log", "crm", "--status", "delivered"]).await;
    let delivery = log[0]["delivery_id"].as_str().unwrap();
    let resent = stage.json(&["resend", delivery]).await;
    assert_eq!(resent[0]["resend_of"], delivery);
    crate::support::until("the resent event arrives", async || (stage.seen.lock().unwrap().len() == 2).then_some(())).await;
    let seen = stage.seen.lock().unwrap().clone();
    assert_eq!(seen[1].1["resend_of"], seen[0].0);
    assert_ne!(seen[0].0, seen[1].0);
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_answered_with_what_to_do() {
    let stage = Stage::new().await;
    let url = format!("http://{}/hook", stage.host);
    let words = stage.refused(&["add", "--name", "crm", "--url", &url, "--event", "post.snet"]).await;
    assert!(words.contains("there is no event `post.snet`; the nearest are: post.sent"), "{words}");
    let words = stage.refused(&["add", "--name", "crm", "--url", "ftp://x/", "--event", "*"]).await;
    assert!(words.contains("starts with http:// or https://"), "{words}");
    let added = stage.run(&["add", "--name", "crm", "--url", &url, "--event", "*", "--secret-ref", "env:NOT_THERE"]).await;
    assert!(stderr(&added).contains("the variable NOT_THERE is not set here"), "{}", stderr(&added));
    assert!(stage.refused(&["test", "crn"]).await.contains("there is no webhook `crn`; there are: crm"));
    let paused = stage.json(&["pause", "crm", "--reason", "they move"]).await;
    assert_eq!((&paused[0]["status"], &paused[0]["stopped_why"]), (&"paused".into(), &"they move".into()));
    assert!(stage.refused(&["test", "crm"]).await.contains("is paused: they move; enable it first"));
    assert_eq!(stage.json(&["enable", "crm"]).await[0]["status"], "active");
    assert!(stage.refused(&["remove", "crm"]).await.contains("add --yes"));
    assert!(stage.run(&["remove", "crm", "--yes"]).await.status.success());
    assert_eq!(stage.json(&["list"]).await, serde_json::json!([]));
    let secret = beresta(&["webhook", "secret"]).output().unwrap();
    assert!(stdout(&secret).starts_with("whsec_"));
    let events = stage.command(&["webhook", "events", "--json"]).output().unwrap();
    let events: Value = serde_json::from_str(&stdout(&events)).unwrap();
    let names: Vec<&str> = events.as_array().unwrap().iter().map(|event| event["event_type"].as_str().unwrap()).collect();
    let expected = [
        "action.timed_out",
        "alert.cleared",
        "alert.raised",
        "batch.applied",
        "bot.escalated",
        "bot.scenario_finished",
        "channel.paused",
        "delivery.dead",
        "delivery.failed",
        "post.sent",
        "webhook.test",
    ];
    assert_eq!(names, expected);
}
