//! The contract of the adapters, run against both of them and their simulators over real sockets. A test named after one
//! provider is in the module of that provider; every other one holds for both.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod buttons;
mod edits;
mod harness;
mod max;
mod media;
mod refusals;
mod telegram;
mod texts;
mod transport;
