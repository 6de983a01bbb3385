//! The promises of the planner, on a real PostgreSQL: straight against the engine, and over MCP.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod apply;
mod catalog;
mod concurrency;
mod conformance;
mod failures;
mod mcp;
mod ordering;
mod people;
mod previews;
mod properties;
mod refusals;
mod streaks;
mod undo;
mod upkeep;
mod world;
mod xp;
