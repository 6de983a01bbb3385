//! The updates of one bot: pushed to its subscriptions, or kept for long polling when it has none.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::pusher::Subscription;

const KEPT_MAX: usize = 100_000;
const CALLBACKS_MAX: usize = 100_000;

#[derive(Default)]
pub(super) struct Inbox {
    pub(super) subscriptions: Vec<Arc<Subscription>>,
    /// By marker. Markers grow by one.
    pub(super) kept: BTreeMap<i64, Kept>,
    last_marker: i64,
    /// The first marker not handed out yet: where a poll without a marker starts.
    pub(super) unread: i64,
    /// Callbacks not answered yet, with the place of the message pressed.
    callbacks: HashMap<String, (i64, i64)>,
}

pub(super) struct Kept {
    pub(super) kind: String,
    pub(super) body: Bytes,
}

impl Inbox {
    pub(super) fn keep(&mut self, kind: &str, body: Bytes) {
        self.last_marker += 1;
        self.kept.insert(self.last_marker, Kept { kind: kind.to_owned(), body });
        if self.kept.len() > KEPT_MAX {
            self.kept.pop_first();
        }
    }

    pub(super) const fn next_marker(&self) -> i64 {
        self.last_marker + 1
    }

    pub(super) fn pressed(&mut self, callback_id: &str, place: (i64, i64)) {
        if self.callbacks.len() < CALLBACKS_MAX {
            self.callbacks.insert(callback_id.to_owned(), place);
        }
    }

    pub(super) fn callback(&self, callback_id: &str) -> Option<(i64, i64)> {
        self.callbacks.get(callback_id).copied()
    }

    pub(super) fn clear(&mut self) {
        for subscription in self.subscriptions.drain(..) {
            subscription.stop.cancel();
        }
        *self = Self::default();
    }
}
