//! The words of the contract: what an adapter is given and what it gives back.
//!
//! An adapter makes exactly one provider call that can have an effect per method call, so that whoever called can
//! record each acknowledged step before the next one begins. What it repeats by itself (a chat that moved, an
//! attachment that is not ready) was refused by the provider before, and so had none.
//!
//! An error of kind `UnknownOutcome` comes from sends only: repeating a send may show the message twice, while repeating an
//! edit, a deletion, an upload or a probe changes nothing.

use bytes::Bytes;
use kernel::Secret;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer;

/// Where to send, and with whose credential.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The provider's chat id, or `@name` for Telegram.
    pub target_id: String,
    pub token: Secret,
}

/// The markup of a text, in our own words; each adapter maps it to the provider's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParseMode {
    #[serde(rename = "HTML")]
    Html,
    Markdown,
    #[default]
    None,
}

/// One button: a label and an address to open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// For bots that answer presses: what comes back when somebody presses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

pub type Buttons = Vec<Vec<Button>>;

/// Everything about a message that is neither its text nor its media.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    pub parse_mode: ParseMode,
    pub disable_preview: bool,
    /// Sent without a sound.
    pub is_silent: bool,
    /// What a text answers, and in which topic of a forum it stands. Telegram only.
    pub reply_to_message_id: Option<i64>,
    pub thread_id: Option<i64>,
    pub buttons: Buttons,
    pub trace_id: String,
    /// Given to the provider where it supports one. Neither Telegram nor MAX does today.
    pub idempotency_key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MediaKind {
    Image,
    Video,
    Audio,
    File,
}

/// Where the bytes of one item come from.
#[derive(Clone, Debug)]
pub enum MediaSource {
    /// Something that the provider already has: Telegram's `file_id`, MAX's attachment token.
    FileId(String),
    /// An address that the provider fetches by itself, where it can.
    Url(String),
    /// The bytes themselves, with a name for the provider to show.
    File { name: String, content_type: String, bytes: Bytes },
}

/// One item of an ordered list.
#[derive(Clone, Debug)]
pub struct Media {
    pub kind: MediaKind,
    pub source: MediaSource,
    /// Shown with this item where the provider has such a thing, after the text of the whole where it has not.
    pub caption: Option<String>,
}

/// What the provider made of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// The message, or the first message of a group.
    pub provider_message_id: String,
    /// Every message of a group, in order; one id for a single message.
    pub provider_message_ids: Vec<String>,
    /// For each item of the media, in order, what the provider would take instead of the bytes next time.
    pub file_ids: Vec<Option<String>>,
    /// The chat has this id from now on, and the message is there: whoever keeps the old one has to repair it.
    pub migrated_to: Option<String>,
    pub raw: Raw,
}

/// A provider's answer as it came. It is shown only redacted and cut to a size that a journal can keep, and that is done
/// only for whoever asks: most answers are never looked at.
#[derive(Clone, PartialEq)]
pub struct Raw(pub(crate) Value);

impl Raw {
    pub fn redacted(self) -> Value {
        answer::raw(self.0)
    }
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Raw")
    }
}

/// Bytes that the provider now has, before any message uses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uploaded {
    pub file_id: String,
    /// After this long the provider may have forgotten it.
    pub lives_for: Option<std::time::Duration>,
}
