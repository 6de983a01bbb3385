//! Why an import does not begin, or cannot go on.

use std::path::PathBuf;

use kernel::Problem;
use platform::DbError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} cannot be read: {}", .0.display(), .1)]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// It has neither the messages of a chat nor the chats of an account.
    #[error("the file is not an export of Telegram Desktop: it has neither `messages` of a chat nor `chats` of an account")]
    NotAnExport,
    #[error("the file is an export as HTML, which cannot be imported; export again and choose the format JSON")]
    Html,
    /// The stream ends here; what stands before was stored.
    #[error("the export cannot be read on: {0}")]
    Broken(String),
    #[error("the chat {chat_id} ({title}) is not registered; `beresta knowledge chat register {chat_id}` registers it")]
    NotRegistered { chat_id: i64, title: String },
    #[error("the person {chat_id} ({title}) is not on the allowlist; `beresta knowledge chat allow {chat_id}` adds them")]
    NotAllowed { chat_id: i64, title: String },
    #[error("the export is of {title}: {why}")]
    NotTaken { title: String, why: &'static str },
    #[error("the export has no chat {0} that can be taken")]
    NoSuchChat(i64),
    #[error(transparent)]
    Problem(#[from] Problem),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Why a chat of an export is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftReason {
    NoId,
    Kind,
    NotAskedFor,
    NotAllowed,
    NotRegistered,
}

impl LeftReason {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NoId => "its `type` and `id` do not stand before its `messages`",
            Self::Kind => "only groups, supergroups, channels and personal chats are taken",
            Self::NotAskedFor => "another chat was asked for",
            Self::NotAllowed => "the person is not on the allowlist",
            Self::NotRegistered => "the chat is not registered",
        }
    }
}

impl Error {
    pub(super) fn chat_left(chat_id: Option<i64>, title: Option<String>, why: LeftReason) -> Self {
        let title = title.unwrap_or_else(|| "without a name".to_owned());
        match (chat_id, why) {
            (Some(chat_id), LeftReason::NotRegistered) => Self::NotRegistered { chat_id, title },
            (Some(chat_id), LeftReason::NotAllowed) => Self::NotAllowed { chat_id, title },
            (Some(chat_id), why) => Self::NotTaken { title: format!("{title}, {chat_id}"), why: why.words() },
            (None, why) => Self::NotTaken { title, why: why.words() },
        }
    }
}
