//! Webhooks: tells programs outside of events, at least once each, signed as Standard Webhooks says.

mod console;
mod error;
mod module;
mod sql;
mod store;

pub mod alerts;
pub mod http;
pub mod manage;
pub mod reads;
pub mod scopes;
pub mod sender;
pub mod signature;

pub use module::{MODULE, retention, service};
pub use sender::WebhookSender;
pub use sql::SQL;
