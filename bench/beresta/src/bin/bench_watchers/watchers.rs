//! People who watch chats: a plain connection each, that reads its stream and looks at when what it hears was told.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use beresta_bench::times::{now_micros, spread};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Notify,
    task::JoinSet,
};

use crate::bots::Told;

/// How many streams are opened at the same time.
const OPENING: usize = 64;
/// How long after the last event was told the last watcher may hear it.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long after that something may come that should not.
const SETTLING: Duration = Duration::from_millis(300);
/// Before the moment at which an event was told.
const MARK: &[u8] = b"\"sent\":";

pub(crate) struct Watchers {
    chats: u64,
    watchers: u64,
    ears: Arc<Ears>,
    streams: JoinSet<Result<()>>,
}

/// What all of them heard.
struct Ears {
    /// How long each event was on its way to each watcher, in microseconds.
    micros: Mutex<Vec<u64>>,
    /// How much each watcher heard, by its number.
    each: Vec<AtomicU64>,
    heard: AtomicU64,
    expected: AtomicU64,
    last_at: AtomicU64,
    all_heard: Notify,
}

impl Ears {
    fn new(watchers: u64) -> Self {
        let zero = AtomicU64::default;
        Self {
            micros: Mutex::default(),
            each: (0..watchers).map(|_| zero()).collect(),
            heard: zero(),
            expected: zero(),
            last_at: zero(),
            all_heard: Notify::new(),
        }
    }

    fn hear(&self, watcher: usize, moments: &[u64]) {
        let now = now_micros();
        self.each[watcher].fetch_add(moments.len() as u64, Ordering::Relaxed);
        let mut micros = self.micros.lock().unwrap_or_else(PoisonError::into_inner);
        micros.extend(moments.iter().map(|sent| now.saturating_sub(*sent)));
        drop(micros);
        self.last_at.fetch_max(now, Ordering::Relaxed);
        let heard = self.heard.fetch_add(moments.len() as u64, Ordering::AcqRel) + moments.len() as u64;
        if heard >= self.expected.load(Ordering::Acquire) {
            self.all_heard.notify_one();
        }
    }
}

impl Watchers {
    /// Evenly over the chats. Done when each stream has begun.
    pub(crate) async fn open(server: &str, token: &str, chats: u64, watchers: u64) -> Result<Self> {
        let address: SocketAddr = server.trim_start_matches("http://").trim_end_matches('/').parse().context(server.to_owned())?;
        ensure!(watchers % chats == 0, "{watchers} watchers cannot be spread evenly over {chats} chats");
        let ears = Arc::new(Ears::new(watchers));
        let mut opening: JoinSet<Result<Stream>> = JoinSet::new();
        let mut streams = JoinSet::new();
        for n in 0..watchers {
            if opening.len() == OPENING
                && let Some(opened) = opening.join_next().await
            {
                streams.spawn(opened??.listen(Arc::clone(&ears)));
            }
            opening.spawn(Stream::open(address, token.to_owned(), n, n % chats));
        }
        while let Some(opened) = opening.join_next().await {
            streams.spawn(opened??.listen(Arc::clone(&ears)));
        }
        Ok(Self { chats, watchers, ears, streams })
    }

    pub(crate) fn chats(&self) -> u64 {
        self.chats
    }

    /// The next events are so many; each is heard by everyone in its chat.
    pub(crate) fn expect(&self, events: u64) {
        self.ears.micros.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.ears.heard.store(0, Ordering::Release);
        for one in &self.ears.each {
            one.store(0, Ordering::Relaxed);
        }
        self.ears.expected.store(events * (self.watchers / self.chats), Ordering::Release);
    }

    /// Waits until everything was heard, and a moment longer for what should not come. Bots go through the chats in turn, so that each watcher has to
    /// hear as much as the events of its chat.
    pub(crate) async fn judge(&self, told: Told) -> Result<Value> {
        let expected = self.ears.expected.load(Ordering::Acquire);
        let all_heard = async {
            while self.ears.heard.load(Ordering::Acquire) < expected {
                self.ears.all_heard.notified().await;
            }
        };
        let is_complete = tokio::time::timeout(PATIENCE, all_heard).await.is_ok();
        let last_at = self.ears.last_at.load(Ordering::Relaxed);
        tokio::time::sleep(SETTLING).await;
        let heard = self.ears.heard.load(Ordering::Acquire);
        ensure!(is_complete && heard == expected, "{heard} of {expected} were heard by {} streams", self.streams.len());
        ensure!(self.streams.len() as u64 == self.watchers, "{} of {} streams are open", self.streams.len(), self.watchers);
        let events = expected / (self.watchers / self.chats);
        for (watcher, heard) in self.ears.each.iter().enumerate() {
            let wanted = events_of_chat(watcher as u64 % self.chats, self.chats, events);
            let heard = heard.load(Ordering::Relaxed);
            ensure!(heard == wanted, "watcher {watcher} heard {heard} events of {wanted}");
        }
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e6;
        let micros = std::mem::take(&mut *self.ears.micros.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(json!({
            "told_seconds": seconds(told.first_at, told.last_at),
            "heard_seconds": seconds(told.first_at, last_at),
            "heard": heard,
            "arrival": spread(micros),
            "reply": spread(told.replies),
        }))
    }
}

/// Two for each action, and the actions go through the chats in turn.
fn events_of_chat(chat: u64, chats: u64, events: u64) -> u64 {
    let actions = events / 2;
    2 * (actions / chats + u64::from(chat < actions % chats))
}

struct Stream {
    watcher: usize,
    socket: TcpStream,
}

impl Stream {
    async fn open(address: SocketAddr, token: String, watcher: u64, chat: u64) -> Result<Self> {
        let mut socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let request = format!(
            "GET /api/chats/bench-{chat}/events HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).await?;
        let mut said = Vec::new();
        let mut buffer = [0; 1024];
        // Both servers say a word when the watcher is in the stream.
        while !said.windows(6).any(|part| part == b"hello\n") {
            let count = socket.read(&mut buffer).await?;
            ensure!(count > 0, "the stream ended: {}", String::from_utf8_lossy(&said));
            said.extend_from_slice(&buffer[..count]);
        }
        Ok(Self { watcher: usize::try_from(watcher)?, socket })
    }

    async fn listen(mut self, ears: Arc<Ears>) -> Result<()> {
        let mut waiting: Vec<u8> = Vec::with_capacity(1024);
        let mut moments = Vec::new();
        loop {
            let count = self.socket.read_buf(&mut waiting).await?;
            ensure!(count > 0, "the stream ended");
            let kept_from = read_moments(&waiting, &mut moments);
            waiting.drain(..kept_from);
            if !moments.is_empty() {
                ears.hear(self.watcher, &moments);
                moments.clear();
            }
        }
    }
}

/// The moments in what has come; how much of it can be forgotten. A moment that stands at the very end may go on.
fn read_moments(bytes: &[u8], moments: &mut Vec<u64>) -> usize {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(MARK.len()).position(|part| part == MARK) {
        let begin = at + found;
        let digits = &bytes[begin + MARK.len()..];
        let skipped = digits.iter().take_while(|byte| **byte == b' ').count();
        let length = digits[skipped..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if skipped + length == digits.len() {
            return begin;
        }
        let text = std::str::from_utf8(&digits[skipped..skipped + length]).unwrap_or_default();
        moments.extend(text.parse::<u64>());
        at = begin + MARK.len() + skipped + length;
    }
    at.max(bytes.len().saturating_sub(MARK.len()))
}
