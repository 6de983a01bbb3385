//! The chats a bot can name, and whether it may write there. A chat springs into being when it is first named.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::errors::Refusal;

/// Beyond this many a chat nobody named yet is not found.
const CHATS_MAX: usize = 1_000_000;
const SUPERGROUP_ID_MAX: i64 = -1_000_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChatKind {
    Private,
    Group,
    Supergroup,
    Channel,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_name: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: ChatKind,
}

/// What a bot meets when it writes to the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Ok,
    Unknown,
    Kicked,
    Left,
    Blocked,
    NoRights,
    Migrated {
        to: i64,
    },
    /// The next `times` calls are answered with 429.
    Flood {
        seconds: u32,
        times: u32,
    },
}

pub(super) struct ChatEntry {
    pub(super) chat: Arc<Chat>,
    pub(super) access: Access,
    last_message_id: i64,
}

/// What a call is about to do there: the texts differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Read,
    /// Send a thing of this name: `text messages`, `photos`, …
    Write(&'static str),
}

#[derive(Default)]
pub(super) struct Chats {
    by_id: HashMap<i64, ChatEntry>,
    by_name: HashMap<String, i64>,
}

impl Chats {
    /// The id a caller's `chat_id` stands for.
    pub(super) fn resolve(&mut self, chat_id: &str) -> Result<i64, Refusal> {
        if chat_id.is_empty() {
            return Err(Refusal::bad_request("chat_id is empty"));
        }
        if let Some(name) = chat_id.strip_prefix('@') {
            let name_ok = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            return if name_ok { Ok(self.id_of_name(name)) } else { Err(not_found()) };
        }
        chat_id.trim().parse().ok().filter(|id| *id != 0).ok_or_else(not_found)
    }

    /// The chat, when the bot may do there what it intends. Uses up one answer of a flood.
    pub(super) fn open(&mut self, id: i64, intent: Intent) -> Result<&mut ChatEntry, Refusal> {
        let entry = self.entry(id).ok_or_else(not_found)?;
        let refusal = entry.refusal(intent);
        if let Access::Flood { times, .. } = &mut entry.access {
            *times = times.saturating_sub(1);
            if *times == 0 {
                entry.access = Access::Ok;
            }
        }
        refusal.map_or(Ok(entry), Err)
    }

    /// The chat whatever its state is; made up when nobody named it yet.
    pub(super) fn entry(&mut self, id: i64) -> Option<&mut ChatEntry> {
        if self.by_id.len() >= CHATS_MAX && !self.by_id.contains_key(&id) {
            return None;
        }
        Some(self.by_id.entry(id).or_insert_with(|| ChatEntry {
            chat: Arc::new(default_chat(id, None)),
            access: Access::Ok,
            last_message_id: 0,
        }))
    }

    pub(super) fn kind_of(&mut self, chat_id: &str) -> ChatKind {
        let id = self.resolve(chat_id).unwrap_or(-1);
        self.entry(id).map_or(ChatKind::Channel, |entry| entry.chat.kind)
    }

    /// A public name points at one and the same id for ever: it is made from the name.
    fn id_of_name(&mut self, name: &str) -> i64 {
        let name_key = name.to_ascii_lowercase();
        if let Some(id) = self.by_name.get(&name_key) {
            return *id;
        }
        let spread = name_key.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let mut id = SUPERGROUP_ID_MAX - 2_000_000_000 - i64::from(spread);
        while self.by_id.get(&id).is_some_and(|entry| entry.chat.username.as_deref() != Some(name)) {
            id -= 1;
        }
        if let Some(entry) = self.entry(id) {
            entry.chat = Arc::new(default_chat(id, Some(name)));
            self.by_name.insert(name_key, id);
        }
        id
    }
}

impl ChatEntry {
    pub(super) fn next_message_id(&mut self) -> i64 {
        self.last_message_id += 1;
        self.last_message_id
    }

    /// A message of that id came from elsewhere: later ones get greater ids.
    pub(super) fn saw_message_id(&mut self, message_id: i64) {
        self.last_message_id = self.last_message_id.max(message_id);
    }

    fn refusal(&self, intent: Intent) -> Option<Refusal> {
        let place = match self.chat.kind {
            ChatKind::Private => "private chat",
            ChatKind::Group => "group chat",
            ChatKind::Supergroup => "supergroup chat",
            ChatKind::Channel => "channel chat",
        };
        match self.access {
            Access::Ok => None,
            Access::Unknown => Some(not_found()),
            Access::Kicked => Some(Refusal::forbidden(&format!("bot was kicked from the {place}"))),
            Access::Left => Some(Refusal::forbidden(&format!("bot is not a member of the {place}"))),
            Access::Blocked => Some(Refusal::forbidden("bot was blocked by the user")),
            Access::Migrated { to } => Some(Refusal::migrated(to)),
            Access::Flood { seconds, .. } => Some(Refusal::flood(seconds)),
            Access::NoRights => match (intent, self.chat.kind) {
                (Intent::Read, _) => None,
                (_, ChatKind::Channel) => Some(Refusal::bad_request("need administrator rights in the channel chat")),
                (_, ChatKind::Private) => Some(Refusal::bad_request("have no write access to the chat")),
                (Intent::Write(what), _) => Some(Refusal::bad_request(&format!("not enough rights to send {what} to the chat"))),
            },
        }
    }
}

/// What a fault with status 403 says about this kind of chat.
pub(super) fn kicked(kind: ChatKind) -> Refusal {
    Refusal::forbidden(match kind {
        ChatKind::Private => "bot was blocked by the user",
        ChatKind::Group => "bot was kicked from the group chat",
        ChatKind::Supergroup => "bot was kicked from the supergroup chat",
        ChatKind::Channel => "bot was kicked from the channel chat",
    })
}

/// Negative ids are channels unless the test says otherwise: the id alone does not tell, and posting is to channels.
pub(super) fn default_chat(id: i64, username: Option<&str>) -> Chat {
    if id > 0 {
        let first_name = Some(format!("User {id}"));
        return Chat { id, title: None, username: None, first_name, kind: ChatKind::Private };
    }
    let title = Some(username.map_or_else(|| format!("Channel {id}"), ToOwned::to_owned));
    Chat { id, title, username: username.map(ToOwned::to_owned), first_name: None, kind: ChatKind::Channel }
}

fn not_found() -> Refusal {
    Refusal::bad_request("chat not found")
}
