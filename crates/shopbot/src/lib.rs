//! Shopbot: answers customers by rules, once each and in order.

mod sql;
mod store;
mod tokens;

pub mod alerts;
pub mod http;
pub mod monitor;
pub mod reads;
pub mod scenarios;
pub mod sender;
pub mod talk;
pub mod upkeep;

pub use sender::Sender;
pub use sql::SQL;
