//! Posting: one post to many channels, and nothing lost.

mod sql;
mod store;

pub mod alerts;
pub mod dispatcher;
pub mod http;
pub mod media;
pub mod monitor;
pub mod ops;
pub mod pull;
pub mod reads;
pub mod upkeep;

pub use dispatcher::Dispatcher;
pub use sql::SQL;
