//! What is sent to MAX: the body of a message, and its attachments.

use kernel::AdapterError;
use serde_json::{Map, Value, json};

use crate::answer;
use crate::{Button, Media, MediaKind, MediaSource, Meta, ParseMode};

/// An item as a message names it.
pub(super) struct MaxAttachment {
    kind: MediaKind,
    by: AttachedBy,
}

enum AttachedBy {
    Token(String),
    Url(String),
}

impl MaxAttachment {
    pub(super) fn attachment(&self) -> Value {
        let payload = match &self.by {
            AttachedBy::Token(token) => json!({"token": token}),
            AttachedBy::Url(url) => json!({"url": url}),
        };
        json!({"type": kind_name(self.kind), "payload": payload})
    }

    /// The token that it was sent by, which works again. A URL has none.
    pub(super) fn token(&self) -> Option<&str> {
        match &self.by {
            AttachedBy::Token(token) => Some(token),
            AttachedBy::Url(_) => None,
        }
    }
}

/// Whom a message is for: a chat, or a person when a press of a button named no chat (`user:ID`).
pub(super) fn target(target_id: &str) -> (&'static str, &str) {
    target_id.strip_prefix("user:").map_or(("chat_id", target_id), |user| ("user_id", user))
}

pub(super) const fn kind_name(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Video => "video",
        MediaKind::Audio => "audio",
        MediaKind::File => "file",
    }
}

/// Only pictures may be given by address.
pub(super) fn check(media: &Media) -> Result<(), AdapterError> {
    match media.source {
        MediaSource::Url(_) if media.kind != MediaKind::Image => {
            Err(answer::invalid("MAX takes a video, an audio or a file only as bytes, not by its address"))
        }
        _ => Ok(()),
    }
}

/// The item, named by what its upload gave when there was one.
pub(super) fn item(media: &Media, uploaded: Option<String>) -> MaxAttachment {
    let by = match (uploaded, &media.source) {
        (Some(token), _) => AttachedBy::Token(token),
        (None, MediaSource::FileId(token)) => AttachedBy::Token(token.clone()),
        (None, MediaSource::Url(url)) => AttachedBy::Url(url.clone()),
        // Bytes are always uploaded; an empty token would be refused.
        (None, MediaSource::File { .. }) => AttachedBy::Token(String::new()),
    };
    MaxAttachment { kind: media.kind, by }
}

/// The text with its format; plain text has none.
pub(super) fn text(text: Option<&str>, meta: &Meta) -> Map<String, Value> {
    let mut body = Map::new();
    let Some(text) = text else { return body };
    body.insert("text".to_owned(), json!(text));
    let format = match meta.parse_mode {
        ParseMode::Html => "html",
        ParseMode::Markdown => "markdown",
        ParseMode::None => return body,
    };
    body.insert("format".to_owned(), json!(format));
    body
}

/// Only new messages make a sound.
pub(super) fn silence(body: &mut Map<String, Value>, meta: &Meta) {
    if meta.is_silent {
        body.insert("notify".to_owned(), json!(false));
    }
}

pub(super) fn attach(body: &mut Map<String, Value>, attachments: Vec<Value>) {
    if !attachments.is_empty() {
        attach_exactly(body, attachments);
    }
}

/// In an edit, an empty list removes all that is attached.
pub(super) fn attach_exactly(body: &mut Map<String, Value>, attachments: Vec<Value>) {
    body.insert("attachments".to_owned(), Value::Array(attachments));
}

/// In an edit, null keeps what is attached.
pub(super) fn keep_attachments(body: &mut Map<String, Value>) {
    body.insert("attachments".to_owned(), Value::Null);
}

/// The buttons, which MAX counts among the attachments.
pub(super) fn keyboard(meta: &Meta) -> Option<Value> {
    let rows: Vec<Value> =
        meta.buttons.iter().filter(|row| !row.is_empty()).map(|row| row.iter().map(button).collect()).collect();
    (!rows.is_empty()).then(|| json!({"type": "inline_keyboard", "payload": {"buttons": rows}}))
}

/// One without an address and without a payload goes as it is, and MAX refuses it.
fn button(button: &Button) -> Value {
    match (&button.url, &button.payload) {
        (Some(url), _) => json!({"type": "link", "text": button.text, "url": url}),
        (None, Some(payload)) => json!({"type": "callback", "text": button.text, "payload": payload}),
        (None, None) => json!({"type": "callback", "text": button.text}),
    }
}
