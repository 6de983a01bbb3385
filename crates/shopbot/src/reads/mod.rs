//! What people and programs read about bots, conversations and rules: the same for the API and the console.
//!
//! Everything is read inside a transaction of one workspace and by key, and nothing goes on for ever: conversations are found
//! among [`SCAN_MAX`] messages at a time. A page of them may then be shorter than its limit and still have a `next`.

mod bots;
mod conversations;
mod messages;
mod rules;

pub use bots::*;
pub use conversations::*;
pub use messages::*;
pub use rules::*;

use platform::reads::Cursor;

/// How many rows one page looks at, at most.
pub const SCAN_MAX: i64 = 10_000;
/// Answers of one chat are counted up to this: more than this is "more than this".
pub const ANSWERS_MAX: i64 = 100;

/// One page of conversations, newest first.
#[derive(Clone, Debug)]
pub struct ConversationPage {
    pub rows: Vec<ConversationRead>,
    /// Where the next page begins, if there may be one.
    pub next: Option<Cursor>,
}
