//! Chats in the console: the list with what the bots are doing, and the page of one chat, which watches itself through the
//! client that every integration has (`clients/javascript`).

mod data;
mod pages;

#[cfg(test)]
mod tests;

pub(crate) use pages::{api, router};
