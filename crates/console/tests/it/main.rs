//! The console as a router: pages that modules bring, and what makes a page live.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod pages;
