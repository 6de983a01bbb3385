//! The providers, faked over real sockets: the Telegram Bot API under `/telegram`, the MAX Bot API under `/max`,
//! and `/control`, by which a test steers them and reads what they accepted.
//!
//! A simulator behaves as the provider does, keeps state, and breaks on request. It shares no type with the
//! adapters, so that one misreading of a provider's rules cannot pass on both sides. Limits are named where they
//! are enforced: bodies 64 MB, ledgers 1,000,000 entries, files 256 MB in all.

mod clock;
mod connection;
mod control;
mod faults;
mod http;
mod injection;
mod lanes;
mod ledger;
mod limits;
mod max;
mod params;
mod push;
mod random;
mod serve;
mod simulators;
mod sync;
mod telegram;
mod vault;

pub use serve::serve;
pub use simulators::Simulators;
