//! Chats, and what the bots are doing there.

use askama::Template;

use super::parts::{Count, EmptyNote, Moment, Pager};

/// The chat with the newest message comes first.
#[derive(Debug, Template)]
#[template(path = "chats.html")]
pub struct ChatsRegion {
    pub rows: Vec<ChatRow>,
    pub empty: EmptyNote,
    pub pager: Pager,
}

#[derive(Debug, Clone)]
pub struct ChatRow {
    /// Names the row; another one after each message.
    pub key: String,
    pub href: String,
    pub id: String,
    /// When the last message came, or the chat began.
    pub at: Moment,
    pub messages: Count,
    /// How many actions are active.
    pub processing: Count,
    /// Those that changed last.
    pub doings: Vec<Doing>,
    /// Whether there are more than these.
    pub has_more: bool,
}

/// What a bot is doing, in the words that the chat shows.
#[derive(Debug, Clone)]
pub struct Doing {
    pub text: String,
    pub since: Option<Moment>,
}

/// One chat. The script of the page fills it, and keeps it current.
#[derive(Debug, Template)]
#[template(path = "chat.html")]
pub struct ChatRoom {
    pub id: String,
    /// Whether the visitor may also write.
    pub can_write: bool,
}
