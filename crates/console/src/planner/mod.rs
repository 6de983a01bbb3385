//! The planner in the console: goals with their steps, habits with their streaks, XP over time, and what assistants previewed
//! and applied. All of it is live and none of it changes anything.
//!
//! Whoever signs in with a token that names a person sees that person alone; another token sees everybody of its workspace.

mod chart;
mod data;
mod pages;
mod preview;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use data::pulse;
pub(crate) use pages::{fragment, router};
