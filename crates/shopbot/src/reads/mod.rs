//! What people and programs read about bots, conversations and rules: the same for the API and the console.
//!
//! Everything is read inside a transaction of one workspace and by key, and nothing goes on for ever: conversations are found
//! among the last [`SCAN_MAX`] messages of each page.

mod bots;
mod conversations;
mod rules;

pub use bots::*;
pub use conversations::*;
pub use rules::*;

/// How many rows one page looks at, at most.
pub const SCAN_MAX: i64 = 10_000;
