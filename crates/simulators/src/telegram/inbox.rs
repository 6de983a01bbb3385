//! The updates of one bot: pending until a webhook took them or getUpdates confirmed them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::time::Instant;

use super::pusher::Webhook;

/// Older ones are lost, as after the provider's 24 hours.
const PENDING_MAX: usize = 100_000;
const CALLBACKS_MAX: usize = 100_000;
/// Not delivered unless a bot asks for them by name.
const OPT_IN: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

#[derive(Default)]
pub(super) struct Inbox {
    last_update_id: i64,
    pub(super) pending: BTreeMap<i64, Pending>,
    pub(super) webhook: Option<Arc<Webhook>>,
    /// `None`: the default set.
    pub(super) allowed: Option<Vec<String>>,
    pub(super) last_error: Option<(i64, String)>,
    /// Counts long polls: a newer one, or a webhook, ends an older one.
    pub(super) poll: u64,
    /// Callback queries not answered yet, with the chat they came from.
    pub(super) callbacks: HashMap<String, i64>,
}

pub(super) struct Pending {
    pub(super) body: Bytes,
    pub(super) lane: i64,
    pub(super) born: Instant,
}

impl Inbox {
    /// Adds an update and gives its id; `None` when the bot did not ask for this kind.
    pub(super) fn add(&mut self, update: &mut Value, kind: &str, lane: i64) -> Option<i64> {
        if !self.allows(kind) {
            return None;
        }
        let given = update["update_id"].as_i64();
        // Ids start high, as real ones do, and grow by one.
        let update_id = given.unwrap_or_else(|| self.last_update_id.max(800_000_000) + 1);
        self.last_update_id = self.last_update_id.max(update_id);
        update["update_id"] = update_id.into();
        if let Some(query_id) = update["callback_query"]["id"].as_str()
            && self.callbacks.len() < CALLBACKS_MAX
        {
            self.callbacks.insert(query_id.to_owned(), lane);
        }
        let body = Bytes::from(serde_json::to_vec(update).unwrap_or_default());
        self.pending.insert(update_id, Pending { body, lane, born: Instant::now() });
        if self.pending.len() > PENDING_MAX {
            self.pending.pop_first();
        }
        Some(update_id)
    }

    fn allows(&self, kind: &str) -> bool {
        match &self.allowed {
            Some(allowed) => allowed.iter().any(|name| name == kind),
            None => !OPT_IN.contains(&kind),
        }
    }

    /// Stops what is going on; used when everything is reset.
    pub(super) fn clear(&mut self) {
        if let Some(webhook) = self.webhook.take() {
            webhook.stop.cancel();
        }
        *self = Self { poll: self.poll + 1, ..Self::default() };
    }
}
