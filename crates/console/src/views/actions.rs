//! Chats, and what the bots are doing there.

use askama::Template;

use super::{
    shopbot::Empty,
    words::{Count, FilterOption, Moment, Pager, Shell},
};

/// The list of chats.
#[derive(Debug, Template)]
#[template(path = "chats.html")]
pub struct ChatsPage {
    /// The frame.
    pub shell: Shell,
    /// The filter by whether a bot is at work.
    pub states: Vec<FilterOption>,
    /// The chats of this page.
    pub chats: Chats,
    /// The way on.
    pub pager: Pager,
}

/// The region `chats` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/chats.html")]
pub struct ChatsFragment {
    /// The chats of this page.
    pub chats: Chats,
    /// The way on.
    pub pager: Pager,
}

/// Chats, the last one that was spoken in first.
#[derive(Debug, Clone)]
pub struct Chats {
    /// The chats.
    pub rows: Vec<ChatRow>,
    /// What to say when there are none.
    pub empty: Empty,
}

/// One chat in the list.
#[derive(Debug, Clone)]
pub struct ChatRow {
    /// Names the row; another one after each message.
    pub key: String,
    /// Its page.
    pub href: String,
    /// Its id.
    pub id: String,
    /// When the last message came, or the chat began.
    pub at: Moment,
    /// How many messages there are.
    pub messages: Count,
    /// How many actions are active.
    pub processing: Count,
    /// Those that changed last.
    pub doings: Vec<Doing>,
    /// Whether there are more than these.
    pub has_more: bool,
}

/// What a bot is doing.
#[derive(Debug, Clone)]
pub struct Doing {
    /// In the words that the chat shows.
    pub text: String,
    /// Since when.
    pub since: Option<Moment>,
}

/// One chat. The script fills it, and keeps it current.
#[derive(Debug, Template)]
#[template(path = "chat.html")]
pub struct ChatPage {
    /// The frame.
    pub shell: Shell,
    /// The chat.
    pub chat: ChatRoom,
}

/// What the page of a chat has to know.
#[derive(Debug, Clone)]
pub struct ChatRoom {
    /// Its id.
    pub id: String,
    /// Whether whoever looks may also write.
    pub can_write: bool,
}
