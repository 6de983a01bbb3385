//! PostgreSQL machinery, and the ground that HTTP handlers stand on. Modules build on this crate; it knows none of them.

pub mod embedded;

pub mod db;
pub mod error;
pub mod install;
mod sql;

pub mod alerts;
pub mod assistant;
mod bots;
pub mod bus;
pub mod failpoint;
pub mod jobs;
pub mod journal;
mod looking;
pub mod module;
pub mod objects;
pub mod outbox;
pub mod process;
pub mod reads;
pub mod retention;
pub mod scopes;
pub mod secrets;
pub mod settings;
pub mod tokens;
pub mod wake;
pub mod workspaces;

pub mod console;
pub mod http;

pub mod door;

pub use db::{Db, Settings};
pub use error::DbError;
pub use install::{SqlModule, install};
pub use sql::SQL;
