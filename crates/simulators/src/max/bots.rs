//! Bots and their tokens: the raw token in `Authorization`, no `Bearer`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use axum::http::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::vault::sha256;

use super::inbox::Inbox;
use super::problem::Problem;

const BOTS_MAX: usize = 100_000;
const TOKEN_CHARS_MIN: usize = 3;

#[derive(Debug, Clone, Serialize)]
#[expect(clippy::struct_field_names, reason = "the provider's names")]
pub(super) struct User {
    pub(super) user_id: i64,
    pub(super) first_name: String,
    pub(super) username: String,
    pub(super) is_bot: bool,
    pub(super) last_activity_time: i64,
    /// Deprecated, still sent.
    pub(super) name: String,
}

pub(crate) struct Bot {
    pub(super) user: Arc<User>,
    pub(super) commands: Mutex<Vec<Value>>,
    pub(super) inbox: Mutex<Inbox>,
    pub(super) news: Notify,
}

#[derive(Default)]
pub(super) struct Bots {
    by_token: HashMap<String, Arc<Bot>>,
    revoked: HashSet<String>,
}

impl Bots {
    pub(super) fn find(&mut self, token: &str) -> Result<Arc<Bot>, Problem> {
        if self.revoked.contains(token) {
            return Err(Problem::token("Invalid access_token"));
        }
        if let Some(bot) = self.by_token.get(token) {
            return Ok(Arc::clone(bot));
        }
        if token.len() < TOKEN_CHARS_MIN || self.by_token.len() >= BOTS_MAX {
            return Err(Problem::token("Invalid access_token"));
        }
        // The id is made from the token, so that it is the same in every run.
        let digest = sha256(token.as_bytes());
        let user_id = i64::from(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) | 1);
        let name = format!("Bot {user_id}");
        let user = User {
            user_id,
            first_name: name.clone(),
            username: format!("sim{user_id}_bot"),
            is_bot: true,
            last_activity_time: crate::clock::unix_ms(),
            name,
        };
        let bot =
            Arc::new(Bot { user: Arc::new(user), commands: Mutex::default(), inbox: Mutex::default(), news: Notify::new() });
        self.by_token.insert(token.to_owned(), Arc::clone(&bot));
        Ok(bot)
    }

    pub(super) fn revoke(&mut self, token: &str) {
        self.revoked.insert(token.to_owned());
    }

    pub(super) fn restore(&mut self, token: &str) {
        self.revoked.remove(token);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Bot>> {
        self.by_token.values()
    }
}

/// The token of a request. `?access_token=` is no longer read by the provider.
pub(super) fn token(headers: &HeaderMap) -> Result<&str, Problem> {
    let given = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if given.is_empty() {
        return Err(Problem::token("No access token"));
    }
    if given.contains(char::is_whitespace) {
        return Err(Problem::token("Malformed access token"));
    }
    Ok(given)
}
