//! A bot that repeats what it is told: the tiny module of `docs/adding-a-module.md`.

mod module;
mod page;
mod sender;
mod sql;
mod updates;

pub use module::{MODULE, service};
pub use sql::SQL;
