//! Posting in the console: posts and where each copy stands, channels and their health, events, ingest. All of it is
//! live and none of it changes anything.

mod data;
mod pages;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use data::pulse;
pub(crate) use pages::{fragment, router};
// What the shop bot says in the same words.
pub(crate) use words::{beginning, error, platform};
