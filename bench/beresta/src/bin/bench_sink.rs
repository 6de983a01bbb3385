//! Where every contestant sends to. Prints its address. `POST /` answers 200 to the jobs of the queues; under `/telegram`
//! and `/max` it answers as the providers do, and keeps count: `GET /counts`, and `GET /latencies` for posts that carry the
//! time of their push. Under `/chats/telegram` are people: what bots say to them is kept, with its time, until `GET /answers`.
//! Minimal, because it shares the cores with those that are measured.

use std::{
    fmt::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    routing::{get, post},
};
use beresta_bench::times::now_micros;
use serde_json::{Value, json};

/// Stands before the time of the push, in microseconds since 1970.
const PUSHED_AT: &[u8] = b"pushed-at=";
/// The chat whose answers take this long.
const DEAD_CHAT: &[u8] = b"-1009999999999";
const DEAD_AFTER: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Sink {
    /// Messages without and with a time.
    plain: AtomicU64,
    timed: AtomicU64,
    latencies: Mutex<Vec<u64>>,
    /// What people were told: when, in which chat, and the text. How many of them ever.
    answers: Mutex<Vec<(u64, i64, String)>>,
    answered: AtomicU64,
}

impl Sink {
    /// Counts a message and returns how many came before it.
    fn take(&self, body: &[u8]) -> u64 {
        let Some(at) = find(body, PUSHED_AT) else { return self.plain.fetch_add(1, Ordering::Relaxed) };
        let digits = body.iter().skip(at + PUSHED_AT.len()).take_while(|byte| byte.is_ascii_digit());
        let pushed_at = digits.fold(0_u64, |number, byte| number * 10 + u64::from(byte - b'0'));
        let latency = now_micros().saturating_sub(pushed_at);
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner).push(latency);
        self.timed.fetch_add(1, Ordering::Relaxed)
    }
}

fn find(body: &[u8], words: &[u8]) -> Option<usize> {
    body.windows(words.len()).position(|window| window == words)
}

async fn telegram(State(sink): State<Arc<Sink>>, body: Bytes) -> String {
    let number = sink.take(&body) + 1;
    if find(&body, DEAD_CHAT).is_some() {
        tokio::time::sleep(DEAD_AFTER).await;
    }
    format!(
        r#"{{"ok":true,"result":{{"message_id":{number},"chat":{{"id":-1001000000001,"type":"channel","title":"Channel"}},"date":1767225600}}}}"#
    )
}

async fn max(State(sink): State<Arc<Sink>>, body: Bytes) -> String {
    let number = sink.take(&body) + 1;
    format!(
        r#"{{"message":{{"recipient":{{"chat_id":-70000000000001,"chat_type":"channel"}},"timestamp":1767225600000,"body":{{"mid":"mid.{number:016x}","seq":{number},"text":""}}}}}}"#
    )
}

/// A message to a person. It comes back whole, as from Telegram.
async fn chat(State(sink): State<Arc<Sink>>, body: Bytes) -> String {
    let at = now_micros();
    let mut sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (chat_id, text) = (sent["chat_id"].as_i64().unwrap_or(0), sent["text"].as_str().unwrap_or_default().to_owned());
    // Counted when it is there, so that whoever saw the count finds it.
    let number = {
        let mut answers = sink.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push((at, chat_id, text));
        sink.answered.fetch_add(1, Ordering::Relaxed) + 1
    };
    let mut message = json!({
        "message_id": number, "date": at / 1_000_000, "text": sent["text"].take(),
        "from": {"id": 1_000_001, "is_bot": true, "first_name": "Bench", "username": "bench_bot"},
        "chat": {"id": chat_id, "type": "private", "first_name": "Anna"},
    });
    if let Some(buttons) = sent.get_mut("reply_markup") {
        message["reply_markup"] = buttons.take();
    }
    json!({"ok": true, "result": message}).to_string()
}

/// `[[microseconds since 1970, chat, text], …]`, in the order in which they came; asking forgets them.
async fn answers(State(sink): State<Arc<Sink>>) -> String {
    let all = std::mem::take(&mut *sink.answers.lock().unwrap_or_else(PoisonError::into_inner));
    serde_json::to_string(&all).unwrap_or_default()
}

async fn counts(State(sink): State<Arc<Sink>>) -> String {
    let [plain, timed, answers] = [&sink.plain, &sink.timed, &sink.answered].map(|count| count.load(Ordering::Relaxed));
    json!({"plain": plain, "timed": timed, "answers": answers}).to_string()
}

/// In microseconds, one a line; asking forgets them.
async fn latencies(State(sink): State<Arc<Sink>>) -> String {
    let all = std::mem::take(&mut *sink.latencies.lock().unwrap_or_else(PoisonError::into_inner));
    all.iter().fold(String::new(), |mut text, latency| {
        let _ = writeln!(text, "{latency}");
        text
    })
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    let router = Router::new()
        .route("/", post(|_body: Bytes| async { "ok" }))
        .route("/telegram/{bot}/{method}", post(telegram))
        .route("/max/messages", post(max))
        .route("/chats/telegram/{bot}/sendMessage", post(chat))
        .route("/counts", get(counts))
        .route("/latencies", get(latencies))
        .route("/answers", get(answers))
        .with_state(Arc::new(Sink::default()));
    // Ends with the harness, which holds the other end of its input.
    let (mut input, mut nothing) = (tokio::io::stdin(), tokio::io::sink());
    tokio::select! {
        result = axum::serve(listener, router) => Ok(result?),
        _ = tokio::io::copy(&mut input, &mut nothing) => Ok(()),
    }
}
