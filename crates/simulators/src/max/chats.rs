//! Dialogs, chats and channels, and whether the bot may write there.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::problem::Problem;

const CHATS_MAX: usize = 1_000_000;
/// A dialog's chat id is not the person's user id; here it is this much greater.
const DIALOG_ID_SHIFT: i64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChatKind {
    Dialog,
    Chat,
    Channel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Ok,
    Unknown,
    /// The bot was thrown out or left: the provider's text for it is not known, ours is modelled on the others.
    Removed,
    Blocked,
    NoRights,
    /// The next `times` calls are answered with 429.
    Flood {
        times: u32,
    },
}

#[derive(Debug, Clone)]
pub(super) struct ChatEntry {
    pub(super) chat_id: i64,
    pub(super) kind: ChatKind,
    pub(super) title: Option<String>,
    pub(super) access: Access,
}

#[derive(Default)]
pub(super) struct Chats(HashMap<i64, ChatEntry>);

impl Chats {
    pub(super) fn entry(&mut self, chat_id: i64) -> Option<&mut ChatEntry> {
        if self.0.len() >= CHATS_MAX && !self.0.contains_key(&chat_id) {
            return None;
        }
        Some(self.0.entry(chat_id).or_insert_with(|| ChatEntry {
            chat_id,
            // Decided by sign only here: a test may give any chat another kind.
            kind: if chat_id > 0 { ChatKind::Dialog } else { ChatKind::Channel },
            title: (chat_id < 0).then(|| format!("Channel {chat_id}")),
            access: Access::Ok,
        }))
    }

    /// The chat, when the bot may write there. Uses up one answer of a flood.
    pub(super) fn open(&mut self, recipient: Recipient) -> Result<&ChatEntry, Problem> {
        let shown = recipient.shown();
        if recipient == Recipient::Chat(0) {
            return Err(Problem::new(403, "chat.denied", "Invalid chatId: 0"));
        }
        let entry = self.entry(recipient.chat_id()).ok_or_else(|| Problem::chat_not_found(&shown))?;
        match (&mut entry.access, recipient) {
            (Access::Ok, _) => Ok(entry),
            (Access::Unknown, Recipient::User(_)) => Err(Problem::new(404, "dialog.not.found", "Dialog not found")),
            (Access::Unknown, Recipient::Chat(_)) => Err(Problem::chat_not_found(&shown)),
            (Access::Removed, _) => Err(Problem::new(403, "chat.denied", format!("Key: error.chat.denied, args: [{shown},]."))),
            (Access::Blocked, _) => Err(Problem::suspended(&shown)),
            (Access::NoRights, _) => Err(Problem::new(403, "chat.denied", "chat.send.msg.no.permission.because.not.admin")),
            (Access::Flood { times }, _) => {
                *times = times.saturating_sub(1);
                if *times == 0 {
                    entry.access = Access::Ok;
                }
                Err(Problem::flood())
            }
        }
    }
}

/// Whom a message is for: a chat, or a person by the dialog with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipient {
    Chat(i64),
    User(i64),
}

impl Recipient {
    pub(super) const fn chat_id(self) -> i64 {
        match self {
            Self::Chat(chat_id) => chat_id,
            Self::User(user_id) => user_id + DIALOG_ID_SHIFT,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Chat(id) | Self::User(id) => id.to_string(),
        }
    }
}

/// The person of a dialog.
pub(super) const fn user_of_dialog(chat_id: i64) -> i64 {
    if chat_id > DIALOG_ID_SHIFT { chat_id - DIALOG_ID_SHIFT } else { chat_id }
}
