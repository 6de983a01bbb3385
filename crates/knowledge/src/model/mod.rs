//! The pure rules: what an update says, what the normal form of an address is, where a text is cut.

pub mod chunking;
pub mod transport;
pub mod update;
pub mod urls;
