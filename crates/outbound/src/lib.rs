//! The one way out, with a limit on everything: a client for providers, whose errors say whether the request may have
//! been carried out, and a fetcher for addresses that came from outside, which goes to the public internet only.

pub mod address;
mod client;
mod fetch;

pub use client::{CallError, Client, ClientSettings, Reply, SettingsError};
pub use fetch::{FetchError, FetchRequest, FetchSettings, Fetched, Fetcher, PostError, PostRequest, Posted};
