//! Posting in the console: posts and where each copy stands, channels and their health, events, ingest. None of it changes anything.

mod data;
mod pages;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use pages::router;
// Used by the pages of the other modules too.
pub(crate) use words::{beginning, error, platform};
