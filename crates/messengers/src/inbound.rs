//! What a webhook brings, in one form whoever the provider is: something that a person wrote or pressed in a chat with the
//! bot. Reading an update is a pure function of it.

use serde_json::Value;

use crate::{max, telegram};

/// One thing that a person did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbound {
    /// Where to answer: what `Channel::target_id` takes.
    pub chat_id: String,
    /// The same whenever the provider repeats the update, and no other update of the chat has it.
    pub provider_message_id: String,
    pub kind: InboundKind,
    pub text: Option<String>,
    /// What the pressed button was given when it was sent.
    pub payload: Option<String>,
    pub sender_name: Option<String>,
    pub is_from_bot: bool,
    pub sent_at_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboundKind {
    Text,
    Button,
    /// The person opened the chat with the bot.
    Start,
    /// A picture, a sticker, a place: anything without words.
    Other,
}

impl InboundKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Button => "button",
            Self::Start => "start",
            Self::Other => "other",
        }
    }
}

/// An update that is not in the provider's words, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl Inbound {
    /// Nothing for an update that is no message of a person to the bot: edits, groups, channels, kinds that are not known yet.
    pub fn from_max(update: &Value) -> Result<Option<Self>, Unreadable> {
        max::update::read(update)
    }

    /// Nothing for an update that is no message of a person to the bot.
    pub fn from_telegram(update: &Value) -> Result<Option<Self>, Unreadable> {
        telegram::update::read(update)
    }
}

/// An id as text, whether it came as a number or as a text.
pub(crate) fn id(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_i64().map(|number| number.to_string()),
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

pub(crate) fn needed_id(value: &Value, name: &str) -> Result<String, Unreadable> {
    id(value).ok_or_else(|| Unreadable(format!("`{name}` is missing or no id")))
}

pub(crate) fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(ToOwned::to_owned)
}

/// First and last name, as far as there are any.
pub(crate) fn name(user: &Value) -> Option<String> {
    let parts: Vec<&str> = ["first_name", "last_name"].iter().filter_map(|field| user[*field].as_str()).collect();
    let name = parts.join(" ");
    (!name.trim().is_empty()).then(|| name.trim().to_owned())
}
