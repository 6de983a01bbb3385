//! Posting: one post to many channels, and nothing lost.

mod module;
mod sql;
mod store;

pub mod alerts;
pub mod dispatcher;
pub mod http;
pub mod media;
pub mod ops;
pub mod pull;
pub mod reads;
pub mod retention;
pub mod scopes;

pub use dispatcher::Dispatcher;
pub use module::{MENU, MODULE, service};
pub use sql::SQL;

/// There may be a delivery to send.
pub const DELIVERIES: platform::wake::Topic = platform::wake::Topic::new("deliveries", std::time::Duration::from_millis(50));
