//! Rate limits as the providers have them. Off by default; `POST /control/limits` switches them on.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::sync::lock;

const WINDOW: Duration = Duration::from_secs(1);
/// More windows than this are forgotten at once: it is a limiter of a simulator, not of a firewall.
const WINDOWS_MAX: usize = 100_000;

/// The limits of one provider; 0 means none.
#[derive(Default)]
pub(crate) struct Limits {
    per_chat: AtomicU32,
    per_token: AtomicU32,
    windows: Mutex<HashMap<(i64, Option<i64>), Window>>,
}

struct Window {
    start: Instant,
    count: u32,
}

impl Limits {
    pub(crate) fn set(&self, per_chat: u32, per_token: u32) {
        self.per_chat.store(per_chat, Ordering::Relaxed);
        self.per_token.store(per_token, Ordering::Relaxed);
        lock(&self.windows).clear();
    }

    pub(crate) fn get(&self) -> (u32, u32) {
        (self.per_chat.load(Ordering::Relaxed), self.per_token.load(Ordering::Relaxed))
    }

    /// Counts one call of a bot, and of its chat when it posts there. False: over a limit, answer 429.
    #[must_use]
    pub(crate) fn admit(&self, bot_id: i64, chat_id: Option<i64>) -> bool {
        let (per_chat, per_token) = self.get();
        if per_chat == 0 && per_token == 0 {
            return true;
        }
        let mut windows = lock(&self.windows);
        if windows.len() > WINDOWS_MAX {
            windows.clear();
        }
        let token_ok = per_token == 0 || spend(&mut windows, (bot_id, None), per_token);
        let chat_ok = per_chat == 0 || chat_id.is_none_or(|chat| spend(&mut windows, (bot_id, Some(chat)), per_chat));
        token_ok && chat_ok
    }
}

fn spend(windows: &mut HashMap<(i64, Option<i64>), Window>, key: (i64, Option<i64>), max: u32) -> bool {
    let now = Instant::now();
    let window = windows.entry(key).or_insert(Window { start: now, count: 0 });
    if now.duration_since(window.start) >= WINDOW {
        *window = Window { start: now, count: 0 };
    }
    window.count = window.count.saturating_add(1);
    window.count <= max
}
