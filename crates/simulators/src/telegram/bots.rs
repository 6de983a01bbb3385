//! Bots and their tokens. Every well-formed token is a bot until the test revokes it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use tokio::sync::Notify;

use super::errors::Refusal;
use super::inbox::Inbox;

const BOTS_MAX: usize = 100_000;
const SECRET_CHARS_MIN: usize = 3;

#[derive(Debug, Clone, Serialize)]
pub(super) struct User {
    pub(super) id: i64,
    pub(super) is_bot: bool,
    pub(super) first_name: String,
    pub(super) username: String,
}

pub(crate) struct Bot {
    pub(super) user: Arc<User>,
    /// Updates for it, by webhook or getUpdates.
    pub(super) inbox: Mutex<Inbox>,
    /// Wakes a long poll: an update came, or the poll has to end.
    pub(super) news: Notify,
}

#[derive(Default)]
pub(super) struct Bots {
    by_token: HashMap<String, Arc<Bot>>,
    revoked: HashSet<String>,
}

impl Bots {
    pub(super) fn find(&mut self, token: &str) -> Result<Arc<Bot>, Refusal> {
        if let Some(bot) = self.by_token.get(token) {
            let revoked = !self.revoked.is_empty() && self.revoked.contains(token);
            return if revoked { Err(Refusal::unauthorized()) } else { Ok(Arc::clone(bot)) };
        }
        // The cloud service answers a malformed token with a plain 404.
        let id = bot_id(token).ok_or_else(Refusal::not_found)?;
        if self.revoked.contains(token) || self.by_token.len() >= BOTS_MAX {
            return Err(Refusal::unauthorized());
        }
        let user = User { id, is_bot: true, first_name: format!("Bot {id}"), username: format!("sim_{id}_bot") };
        let bot = Arc::new(Bot { user: Arc::new(user), inbox: Mutex::default(), news: Notify::new() });
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

/// `<digits>:<letters, digits, _ and ->`. Real secrets have 35 characters; tests may have fewer.
pub(super) fn bot_id(token: &str) -> Option<i64> {
    let (id, secret) = token.split_once(':')?;
    let secret_ok = secret.len() >= SECRET_CHARS_MIN
        && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let id_ok = id.bytes().all(|byte| byte.is_ascii_digit());
    if secret_ok && id_ok { id.parse().ok().filter(|id| *id > 0) } else { None }
}

#[cfg(test)]
mod tests {
    use super::bot_id;

    #[test]
    fn a_token_is_digits_a_colon_and_a_secret() {
        for (token, id) in [
            ("123:abc", Some(123)),
            ("123:AA_b-9", Some(123)),
            ("123", None),
            ("abc:def", None),
            ("123:a b", None),
            ("0:abc", None),
            ("1:ab", None),
        ] {
            assert_eq!(bot_id(token), id, "{token}");
        }
    }
}
