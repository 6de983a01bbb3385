//! Posting: one post to many channels, and nothing lost.

mod sql;

pub use sql::SQL;
