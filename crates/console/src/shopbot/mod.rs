//! The shop bot in the console: conversations and why each message was answered as it was, rules by version, and how the bots
//! are. None of it changes anything.

mod changes;
mod data;
mod pages;
mod rules;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use pages::router;
