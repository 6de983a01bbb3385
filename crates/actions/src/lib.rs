//! Actions: what a bot is doing right now, seen live in the chat.

pub mod contract;
pub mod generate;

mod clean;
mod sql;
mod store;
mod streams;

pub mod glance;
pub mod http;
pub mod reads;
pub mod upkeep;
pub mod watchdog;

pub use clean::display_text;
pub use sql::SQL;
pub use streams::Limits;
