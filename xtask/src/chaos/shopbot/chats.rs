//! The chats of a run, what is written in them, and what comes from nobody: the updates as a provider words them.

use serde_json::{Value, json};

const CHATS: u32 = 24;
/// What opens a chat, and is answered with itself as everything else.
pub(super) const HELLO: &str = "hello";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    Max,
    Telegram,
}

impl Provider {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Max => "/hooks/max",
            Self::Telegram => "/hooks/telegram",
        }
    }

    /// The header that carries the secret, and the secret.
    pub(super) const fn secret(self) -> (&'static str, &'static str) {
        match self {
            Self::Max => ("x-max-bot-api-secret", "chaos-max-secret"),
            Self::Telegram => ("x-telegram-bot-api-secret-token", "chaos-telegram-secret"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chat {
    /// No two chats have the same, in whichever messenger.
    pub(super) id: u32,
    pub(super) provider: Provider,
    /// Its customer sends several messages at once; the others wait until the last one was acknowledged.
    pub(super) is_hasty: bool,
}

/// Two of three in MAX, one of four hasty.
pub(super) fn chats() -> Vec<Chat> {
    let provider = |n: u32| if n.is_multiple_of(3) { Provider::Telegram } else { Provider::Max };
    (1..=CHATS).map(|n| Chat { id: 50_000 + n, provider: provider(n), is_hasty: n.is_multiple_of(4) }).collect()
}

impl Chat {
    /// The id that message `n` has for its provider.
    pub(super) fn message_id(self, n: u64) -> String {
        match self.provider {
            Provider::Max => format!("mid.{n}"),
            Provider::Telegram => n.to_string(),
        }
    }

    /// The update that brings message `n`.
    pub(super) fn message(self, n: u64, text: &str) -> Value {
        match self.provider {
            Provider::Max => json!({
                "update_type": "message_created", "timestamp": 1_780_000_000_000_i64,
                "message": {
                    "recipient": {"chat_id": self.id, "chat_type": "dialog", "user_id": 9}, "timestamp": 1_780_000_000_000_i64,
                    "sender": {"user_id": self.id, "first_name": "Anna", "is_bot": false},
                    "body": {"mid": self.message_id(n), "seq": n, "text": text},
                },
            }),
            Provider::Telegram => json!({
                "update_id": n,
                "message": {
                    "message_id": n, "date": 1_780_000_000, "chat": {"id": self.id, "type": "private"},
                    "from": {"id": self.id, "is_bot": false, "first_name": "Anna"}, "text": text,
                },
            }),
        }
    }

    /// An update that cannot be handled, in one of five ways; `marker` is in it.
    pub(super) fn poison(self, n: u64, marker: &str) -> Vec<u8> {
        let nameless = match self.provider {
            Provider::Max => json!({"update_type": "message_created", "poison": marker}),
            Provider::Telegram => json!({"update_id": n, "message": {"poison": marker}}),
        };
        match n % 5 {
            0 => format!(r#"{{"update_type": "message_created", "poison": "{marker}""#).into_bytes(),
            1 => nameless.to_string().into_bytes(),
            // Good in everything but a character that no text of the database can hold.
            2 => self.message(n, &format!("{marker}\0")).to_string().into_bytes(),
            3 => [marker.as_bytes(), b"\0\xff"].concat(),
            _ => format!(r#"{{"poison": "{marker}", "poison": "{marker}"}}"#).into_bytes(),
        }
    }
}

/// Found in no other poison: `poison-1` would be a part of `poison-12`. Short, so that nobody takes it for a phone number.
pub(super) fn poison_marker(n: u64) -> String {
    format!("poison-{n}-end")
}

/// The turn and the message that an answer speaks of.
pub(super) fn read_answer(text: &str) -> Option<(i64, &str)> {
    let (turn, said) = text.split_once(": ")?;
    Some((turn.parse().ok()?, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_its_turn_and_its_message() {
        assert_eq!(read_answer("12: chaos-7-3"), Some((12, "chaos-7-3")));
        assert_eq!(read_answer("Не совсем понял вас."), None);
    }

    #[test]
    fn every_poison_carries_its_marker_and_none_that_of_another() {
        let marker = poison_marker(1);
        for chat in chats() {
            for n in 0..5 {
                let body = chat.poison(n, &marker);
                assert!(String::from_utf8_lossy(&body).contains(&marker), "{n}");
            }
        }
        assert!(!poison_marker(12).contains(&marker));
    }
}
