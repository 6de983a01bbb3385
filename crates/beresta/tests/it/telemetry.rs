//! Logs that carry the trace id, and traces for whoever collects them.

use std::{io::Read, process::Stdio};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::support::{Serving, beresta, client, database, until};

#[tokio::test]
async fn every_log_line_of_a_request_carries_its_trace_id_and_no_token() {
    let db = database().await;
    let mut command =
        beresta(&["serve", "--listen", "127.0.0.1:0", "--database-url", &db.url, "--data-dir", "/tmp/beresta-test-objects"]);
    command.env("BERESTA_LOG_FORMAT", "json").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = [0; 200];
    let n = child.stdout.as_mut().unwrap().read(&mut first).unwrap();
    let line = String::from_utf8_lossy(&first[..n]).into_owned();
    let base = line.lines().next().unwrap().trim_start_matches("beresta serves on ").to_owned();
    let call = client().get(format!("{base}/api/me")).bearer_auth("brs_do-not-log-me").header("x-trace-id", "trace-17");
    assert_eq!(call.send().await.unwrap().status(), 401);
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    child.wait().unwrap();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of_request: Vec<&Value> = lines.iter().filter(|line| line["span"]["trace_id"] == "trace-17").collect();
    assert!(!of_request.is_empty(), "{log}");
    assert_eq!(of_request[0]["status"], 401);
    assert!(!log.contains("do-not-log-me"), "{log}");
}

#[tokio::test]
async fn traces_are_exported_when_a_collector_is_named() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let collector = axum::Router::new().route(
        "/v1/traces",
        axum::routing::post(move |body: axum::body::Bytes| async move {
            let _ = sender.send(body);
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, collector).await });
    let db = database().await;
    let mut command =
        beresta(&["serve", "--listen", "127.0.0.1:0", "--database-url", &db.url, "--data-dir", "/tmp/beresta-test-objects"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    let serving = Serving::start(command);
    serving.get("/api/me").await;
    assert!(tokio::task::spawn_blocking(move || serving.stop()).await.unwrap());
    let exported = until("spans arrive", async || receiver.try_recv().ok()).await;
    let has = |words: &[u8]| exported.windows(words.len()).any(|window| window == words);
    assert!(has(b"beresta") && has(b"request") && has(b"/api/me"));
}
