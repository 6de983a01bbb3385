//! The adapter contract and its adapters. Whoever sends through a messenger sees one way to send, one answer and one
//! normalized error; what a provider calls things stays in here.
//!
//! No error and no answer of this crate carries a token: Telegram's is in the URL, MAX's in a header, and a provider
//! that repeats either of them has it cut out of whatever is kept.

mod answer;
mod contract;
mod inbound;
pub mod limits;
mod max;
mod messenger;
mod multipart;
mod telegram;

pub use contract::{Button, Buttons, Channel, Media, MediaKind, MediaSource, Meta, ParseMode, Raw, Sent, Uploaded};
pub use inbound::{Inbound, InboundKind, Unreadable};
pub use max::{Max, NOT_READY_PAUSES, UPLOAD_LIFETIME};
pub use messenger::{Messenger, Messengers, PROVIDERS};
pub use telegram::{FilePlace, Telegram, WebhookInfo, WebhookTarget};
