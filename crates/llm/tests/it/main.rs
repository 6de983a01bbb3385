//! The adapters against providers that are faked over real sockets. The fakes are a few lines each and share no type with
//! the adapters.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod answer;
mod embed;
mod harness;
mod transcribe;
mod transport;
