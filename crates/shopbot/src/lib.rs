//! Shopbot: answers customers by rules, once each and in order.

mod module;
mod sql;
mod store;
mod tokens;
mod updates;

pub mod alerts;
pub mod http;
pub mod reads;
pub mod retention;
pub mod scenarios;
pub mod scopes;
pub mod sender;
pub mod talk;

pub use module::{MENU, MODULE, service};
pub use sender::AnswerSender;
pub use sql::SQL;
pub use updates::bot_module;

/// There may be an answer to send. A customer waits for it: told soon.
pub const ANSWERS: platform::wake::Topic = platform::wake::Topic::new("answers", std::time::Duration::from_millis(10));
