//! The file of an export, read as a stream: at no time is more of it in memory than one message and a short queue.

use std::{
    collections::HashSet,
    fmt,
    fs::File,
    io::{BufReader, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use tokio::sync::mpsc::Sender;

use super::error::{Error, LeftReason};

/// A chat of an export whose messages are taken.
#[derive(Clone, Debug)]
pub(super) struct ExportChat {
    /// As bots know it.
    pub(super) chat_id: i64,
    pub(super) chat_type: &'static str,
    pub(super) title: Option<String>,
    /// Whose private chat it is.
    pub(super) person: Option<i64>,
}

impl ExportChat {
    /// The number of a message. Those of a private chat are counted by the account that was exported, not by the bot: below zero they
    /// never meet the bot's.
    pub(super) fn number(&self, id: i64) -> i64 {
        if self.person.is_some() { -id.abs() } else { id }
    }
}

/// The id by which bots know a supergroup or a channel.
pub(super) fn channel_id(id: i64) -> i64 {
    (-1_000_000_000_000_i64).saturating_sub(id)
}

/// What the reader tells, in the order of the file.
pub(super) enum ExportItem {
    Chat(Arc<ExportChat>),
    /// The position counts from one in the messages of its chat.
    Message {
        chat: Arc<ExportChat>,
        position: u64,
        body: Result<Value, String>,
    },
    Left {
        chat_id: Option<i64>,
        title: Option<String>,
        why: LeftReason,
        messages: u64,
    },
}

/// Which chats are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct WantedChats {
    pub(super) registered: HashSet<i64>,
    pub(super) allowed: HashSet<i64>,
    pub(super) only: Option<i64>,
}

/// Reads the file and sends what it finds. An error that names the place ends the stream; what was sent before it counts.
pub(super) fn read(file: File, bytes_read: Arc<AtomicU64>, wanted: WantedChats, items: Sender<ExportItem>) -> Result<(), Error> {
    let mut stream = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, Counted { file, bytes_read }));
    let mut reader = ExportReader { wanted, items, refused: None, has_messages: false };
    let read = ExportMap { reader: &mut reader, is_root: true }.deserialize(&mut stream);
    match (reader.refused, read) {
        (Some(refused), _) => Err(refused),
        (None, Ok(())) if reader.has_messages => Ok(()),
        (None, Err(error)) if reader.has_messages => Err(Error::Broken(error.to_string())),
        _ => Err(Error::NotAnExport),
    }
}

struct Counted {
    file: File,
    bytes_read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

struct ExportReader {
    wanted: WantedChats,
    items: Sender<ExportItem>,
    refused: Option<Error>,
    has_messages: bool,
}

impl ExportReader {
    /// Whoever stores the messages may have given up: then reading ends too.
    fn send<E: serde::de::Error>(&self, item: ExportItem) -> Result<(), E> {
        self.items.blocking_send(item).map_err(|_| E::custom("nobody listens"))
    }

    /// The chat by which bots know it, or why it is left.
    fn judge(&self, head: &Head) -> Result<ExportChat, (Option<i64>, LeftReason)> {
        let id = head.id.filter(|id| *id > 0).ok_or((None, LeftReason::NoId))?;
        let (chat_id, chat_type) = match head.kind.as_deref() {
            Some("private_group") => (-id, "group"),
            Some("private_supergroup" | "public_supergroup") => (channel_id(id), "supergroup"),
            Some("private_channel" | "public_channel") => (channel_id(id), "channel"),
            Some("personal_chat") => (id, "private"),
            None => return Err((Some(id), LeftReason::NoId)),
            Some(_) => return Err((Some(id), LeftReason::Kind)),
        };
        let person = (chat_type == "private").then_some(chat_id);
        if self.wanted.only.is_some_and(|only| only != chat_id) {
            Err((Some(chat_id), LeftReason::NotAskedFor))
        } else if person.is_some() && !self.wanted.allowed.contains(&chat_id) {
            Err((Some(chat_id), LeftReason::NotAllowed))
        } else if person.is_none() && !self.wanted.registered.contains(&chat_id) {
            Err((Some(chat_id), LeftReason::NotRegistered))
        } else {
            Ok(ExportChat { chat_id, chat_type, title: head.name.clone().filter(|_| person.is_none()), person })
        }
    }
}

/// What stands before the messages of a chat.
#[derive(Default)]
struct Head {
    name: Option<String>,
    kind: Option<String>,
    id: Option<i64>,
}

/// The whole file, or a chat in the list of an account.
struct ExportMap<'a> {
    reader: &'a mut ExportReader,
    is_root: bool,
}

impl<'de> DeserializeSeed<'de> for ExportMap<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ExportMap<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a chat of an export")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut head = Head::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => head.name = map.next_value::<Value>()?.as_str().map(super::text::clean),
                "type" => head.kind = map.next_value::<Value>()?.as_str().map(ToOwned::to_owned),
                "id" => head.id = map.next_value::<Value>()?.as_i64(),
                "messages" => {
                    let (reader, is_root) = (&mut *self.reader, self.is_root);
                    map.next_value_seed(ExportMessages { reader, head: &head, is_root })?;
                }
                "chats" | "left_chats" if self.is_root => map.next_value_seed(ExportLists { reader: &mut *self.reader })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// `{"about": …, "list": [chat, …]}`, or the list itself.
struct ExportLists<'a> {
    reader: &'a mut ExportReader,
}

impl<'de> DeserializeSeed<'de> for ExportLists<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ExportLists<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the chats of an account")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "list" {
                map.next_value_seed(ExportLists { reader: &mut *self.reader })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        // An account without chats is an export too.
        self.reader.has_messages = true;
        while seq.next_element_seed(ExportMap { reader: &mut *self.reader, is_root: false })?.is_some() {}
        Ok(())
    }
}

struct ExportMessages<'a> {
    reader: &'a mut ExportReader,
    head: &'a Head,
    is_root: bool,
}

impl<'de> DeserializeSeed<'de> for ExportMessages<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ExportMessages<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the messages of a chat")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let title = self.head.name.clone();
        let chat = match self.reader.judge(self.head) {
            Ok(chat) => Arc::new(chat),
            Err((chat_id, why)) if self.is_root => {
                // A file that has the `messages` of something else is no export.
                self.reader.has_messages |= self.head.kind.is_some() || self.head.id.is_some();
                if self.reader.has_messages {
                    self.reader.refused = Some(Error::chat_left(chat_id, title, why));
                }
                return Err(A::Error::custom("the chat is not taken"));
            }
            Err((chat_id, why)) => {
                let mut messages = 0;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    messages += 1;
                }
                return self.reader.send(ExportItem::Left { chat_id, title, why, messages });
            }
        };
        self.reader.has_messages = true;
        self.reader.send::<A::Error>(ExportItem::Chat(chat.clone()))?;
        let mut position = 0;
        while let Some(raw) = seq.next_element::<Box<RawValue>>()? {
            position += 1;
            let body = serde_json::from_str(raw.get()).map_err(|error| error.to_string());
            self.reader.send::<A::Error>(ExportItem::Message { chat: chat.clone(), position, body })?;
        }
        Ok(())
    }
}
