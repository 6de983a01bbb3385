//! A message as the Bot API shows it, and the store in which edits and deletions find it again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::bots::User;
use super::chats::Chat;
use super::entity::Entity;

/// The oldest messages give way: an edit of one says `message to edit not found`.
const MESSAGES_MAX: usize = 1_000_000;

#[derive(Clone, serde::Serialize)]
#[expect(clippy::struct_field_names, reason = "the provider's names")]
pub(super) struct Message {
    pub(super) message_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<Arc<User>>,
    /// A channel speaks as itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sender_chat: Option<Arc<Chat>>,
    pub(super) chat: Arc<Chat>,
    pub(super) date: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edit_date: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) media_group_id: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply_to_message: Option<Box<Value>>,
    #[serde(flatten)]
    pub(super) content: Content,
}

/// What an edit replaces.
#[derive(Clone, Default, PartialEq, serde::Serialize)]
pub(super) struct Content {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) entities: Vec<Entity>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) media: Option<Box<Media>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) caption: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) caption_entities: Vec<Entity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) link_preview_options: Option<Box<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply_markup: Option<Box<Value>>,
}

/// The one medium of a message, under the name of its kind.
#[derive(Clone, PartialEq)]
pub(super) struct Media {
    pub(super) kind: &'static str,
    pub(super) object: Value,
}

impl Serialize for Media {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.kind, &self.object)?;
        if self.kind == "animation" {
            // For clients older than animations the server repeats it as a document.
            map.serialize_entry("document", &self.object)?;
        }
        map.end()
    }
}

/// A message somebody can refer to.
#[derive(Clone)]
pub(super) enum Stored {
    Own {
        bot_id: i64,
        message: Arc<Message>,
    },
    /// Came in an update that the test made: can be replied to, not edited.
    Foreign(Arc<Value>),
}

#[derive(Default)]
pub(super) struct Messages {
    by_id: HashMap<(i64, i64), Stored>,
    order: VecDeque<(i64, i64)>,
}

impl Messages {
    pub(super) fn insert(&mut self, chat_id: i64, message_id: i64, stored: Stored) {
        if self.by_id.insert((chat_id, message_id), stored).is_some() {
            return;
        }
        self.order.push_back((chat_id, message_id));
        if self.order.len() > MESSAGES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
    }

    pub(super) fn get(&self, chat_id: i64, message_id: i64) -> Option<&Stored> {
        self.by_id.get(&(chat_id, message_id))
    }

    pub(super) fn remove(&mut self, chat_id: i64, message_id: i64) -> bool {
        // Its place in `order` stays and is skipped when its turn comes.
        self.by_id.remove(&(chat_id, message_id)).is_some()
    }
}

impl Stored {
    /// As it is shown inside a reply: one level only.
    pub(super) fn as_reply_target(&self) -> Value {
        let mut shown = match self {
            Self::Own { message, .. } => serde_json::to_value(&**message).unwrap_or_default(),
            Self::Foreign(message) => (**message).clone(),
        };
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("reply_to_message");
        }
        shown
    }
}
