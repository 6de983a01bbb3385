//! Knowledge: everything a Telegram group shared becomes text that can be found, and questions get answers with their sources.

mod assistant;
mod blobs;
mod console;
mod module;
mod sql;
mod store;
mod updates;

pub mod alerts;
pub mod answers;
pub mod eval;
pub mod http;
pub mod import;
pub mod jobs;
pub mod manage;
pub mod model;
pub mod polling;
pub mod questions;
pub mod reads;
pub mod replies;
pub mod scopes;
pub mod search;
pub mod workflows;

pub use module::{Knowledge, MODULE, service};
pub use sql::SQL;
