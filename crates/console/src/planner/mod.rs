//! The planner in the console: goals with their steps, habits with their streaks, XP over time, and what assistants previewed
//! and applied. None of it changes anything.
//!
//! A visitor whose token names a person sees that person alone; another token sees every person of its workspace.

mod chart;
mod data;
mod pages;
mod preview;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use pages::router;
