//! A message as MAX shows it, its `mid` and `seq`, and the store in which edits find it again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::bots::User;
use super::chats::ChatKind;
use super::markup::Markup;

const MESSAGES_MAX: usize = 1_000_000;

/// Null keys are left out, as in real answers.
#[derive(Clone, Serialize)]
pub(super) struct Message {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sender: Option<Arc<User>>,
    pub(super) recipient: RecipientShown,
    pub(super) timestamp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) link: Option<Box<Value>>,
    /// Absent when the message only forwards another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stat: Option<Stat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
}

#[derive(Clone, Serialize)]
pub(super) struct RecipientShown {
    pub(super) chat_id: i64,
    pub(super) chat_type: ChatKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user_id: Option<i64>,
}

#[derive(Clone, Serialize)]
pub(super) struct Body {
    pub(super) mid: Arc<str>,
    pub(super) seq: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) attachments: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) markup: Vec<Markup>,
}

#[derive(Clone, Serialize)]
pub(super) struct Stat {
    pub(super) views: u64,
}

#[derive(Clone)]
pub(super) enum Stored {
    Own {
        bot_id: i64,
        message: Arc<Message>,
    },
    /// Came in an update that the test made.
    Foreign(Arc<Value>),
}

/// A message's place: the two halves of its `mid`.
pub(super) type Place = (i64, i64);

#[derive(Default)]
pub(super) struct Messages {
    by_place: HashMap<Place, Stored>,
    order: VecDeque<Place>,
    last_seq: i64,
}

impl Messages {
    /// `seq >> 16` is the millisecond; the rest tells messages of one millisecond apart.
    pub(super) fn next_seq(&mut self, now_ms: i64) -> i64 {
        self.last_seq = (now_ms << 16).max(self.last_seq + 1);
        self.last_seq
    }

    pub(super) fn insert(&mut self, place: Place, stored: Stored) {
        if self.by_place.insert(place, stored).is_some() {
            return;
        }
        self.order.push_back(place);
        if self.order.len() > MESSAGES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_place.remove(&oldest);
        }
    }

    pub(super) fn get(&self, place: Place) -> Option<&Stored> {
        self.by_place.get(&place)
    }

    pub(super) fn remove(&mut self, place: Place) -> bool {
        self.by_place.remove(&place).is_some()
    }

    /// The messages of a chat, newest first.
    pub(super) fn of_chat(&self, chat_id: i64) -> impl Iterator<Item = &Stored> {
        let places = self.order.iter().rev().filter(move |place| place.0 == chat_id);
        places.filter_map(|place| self.by_place.get(place))
    }
}

impl Stored {
    pub(super) fn shown(&self) -> Value {
        match self {
            Self::Own { message, .. } => serde_json::to_value(&**message).unwrap_or_default(),
            Self::Foreign(message) => (**message).clone(),
        }
    }
}

/// `mid.` and 32 hex digits: the chat id and the seq, both big endian.
pub(super) fn mid((chat_id, seq): Place) -> Arc<str> {
    format!("mid.{chat_id:016x}{seq:016x}").into()
}

pub(super) fn place_of(mid: &str) -> Option<Place> {
    let digits = mid.strip_prefix("mid.")?;
    let (chat_id, seq) = digits.split_at_checked(16)?;
    let half = |digits: &str| Some(u64::from_str_radix(digits, 16).ok()?.cast_signed());
    Some((half(chat_id)?, half(seq)?))
}

#[cfg(test)]
mod tests {
    use super::{Messages, mid, place_of};

    #[test]
    fn a_mid_is_the_chat_id_and_the_seq_in_hex() {
        let place = (-70_801_090_403_050, 0x0199_0000_0001_0002);
        let text = mid(place);
        assert_eq!(&*text, "mid.ffffbf9b562825160199000000010002");
        assert_eq!(place_of(&text), Some(place));
        assert_eq!(place_of("mid.zz"), None);
    }

    #[test]
    fn a_seq_carries_the_millisecond_and_never_repeats() {
        let mut messages = Messages::default();
        let first = messages.next_seq(1_000);
        let second = messages.next_seq(1_000);
        assert_eq!((first >> 16, second >> 16), (1_000, 1_000));
        assert!(second > first);
    }
}
