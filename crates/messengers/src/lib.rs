//! The adapter contract and its adapters. Whoever sends through a messenger sees one way to send, one answer and one
//! normalized error; what a provider calls things stays in here.

mod contract;

pub use contract::{Button, Buttons, Channel, Media, MediaKind, MediaSource, Meta, ParseMode, Sent, Uploaded};
