//! The promises of posting, on a real PostgreSQL and simulated providers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod catalog;
mod dispatch;
mod edges;
mod enqueue;
mod follow;
mod leases;
mod markup;
mod media;
mod ops;
mod pull;
mod pure;
mod push;
mod random;
mod reads;
mod runbook;
mod stage;
mod states;
mod support;
mod told;
mod upkeep;
mod windows;
mod world;
