//! Where every contestant sends to. Prints its address. `POST /` answers 200 to the jobs of the queues; under `/telegram`
//! and `/max` it answers as the providers do, and keeps count: `GET /counts`, and `GET /latencies` for posts that carry the
//! time of their push. Minimal, because it shares the cores with those that are measured.

use std::{
    fmt::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    routing::{get, post},
};

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
}

impl Sink {
    /// Counts a message and returns how many came before it.
    fn take(&self, body: &[u8]) -> u64 {
        let Some(at) = find(body, PUSHED_AT) else { return self.plain.fetch_add(1, Ordering::Relaxed) };
        let digits = body.iter().skip(at + PUSHED_AT.len()).take_while(|byte| byte.is_ascii_digit());
        let pushed_at = digits.fold(0_u64, |number, byte| number * 10 + u64::from(byte - b'0'));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let latency = u64::try_from(now.as_micros()).unwrap_or(u64::MAX).saturating_sub(pushed_at);
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

async fn counts(State(sink): State<Arc<Sink>>) -> String {
    format!(r#"{{"plain":{},"timed":{}}}"#, sink.plain.load(Ordering::Relaxed), sink.timed.load(Ordering::Relaxed))
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
        .route("/counts", get(counts))
        .route("/latencies", get(latencies))
        .with_state(Arc::new(Sink::default()));
    // Ends with the harness, which holds the other end of its input.
    let (mut input, mut nothing) = (tokio::io::stdin(), tokio::io::sink());
    tokio::select! {
        result = axum::serve(listener, router) => Ok(result?),
        _ = tokio::io::copy(&mut input, &mut nothing) => Ok(()),
    }
}
