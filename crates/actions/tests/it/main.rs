//! The promises of actions, on a real PostgreSQL: through the API wherever that is possible, against the functions where it is not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod catalog;
mod chats;
mod concurrency;
mod contract;
mod inside;
mod joining;
mod refusals;
mod rules;
mod streams;
mod watchdog;
mod world;
