//! The providers, faked over real sockets: the Telegram Bot API under `/telegram`, the MAX Bot API under `/max`,
//! Gemini under `/gemini`, OpenAI under `/openai`, a web site under `/web`, and `/control`, by which a test steers
//! them and reads what they accepted.
//!
//! A simulator behaves as the provider does, keeps state, and breaks on request. It shares no type with the
//! adapters, so that one misreading of a provider's rules cannot pass on both sides. Limits are named where they
//! are enforced: bodies 64 MB, ledgers 1,000,000 entries, files 256 MB in all, and as much of the ledgers.

mod clock;
mod connection;
mod control;
mod exchange;
mod faults;
mod gemini;
mod http;
mod injection;
mod lanes;
mod ledger;
mod limits;
mod max;
mod models;
mod openai;
mod params;
mod pieces;
mod push;
mod random;
mod serve;
mod simulators;
mod sync;
mod telegram;
mod vault;
mod web;

pub use serve::serve;
pub use simulators::Simulators;
