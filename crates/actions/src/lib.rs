//! Actions: what a bot is doing right now, seen live in the chat.

pub mod contract;
pub mod generate;

mod clean;
mod module;
mod sql;
mod store;
mod streams;

pub mod glance;
pub mod http;
pub mod own;
pub mod reads;
pub mod retention;
pub mod scopes;
pub mod watchdog;

pub use clean::display_text;
pub use module::{ActionsSettings, MENU, MODULE, service};
pub use sql::SQL;
pub use streams::StreamLimits;
