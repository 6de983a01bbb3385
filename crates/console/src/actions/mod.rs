//! Chats in the console: the list with what the bots are doing, and the page of one chat, which watches itself through the
//! same client that everybody has (`clients/javascript`).

mod data;
mod pages;

#[cfg(test)]
mod tests;

pub(crate) use data::pulse;
pub(crate) use pages::{fragment, router};
