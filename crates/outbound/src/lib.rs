//! The one way out to providers: an HTTP client with a limit on everything, whose errors say whether the request
//! may have been carried out.

mod client;

pub use client::{CallError, Client, Reply, Settings, SettingsError};
