//! The promises of shopbot, on a real PostgreSQL and simulated providers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod alerts;
mod catalog;
mod engine;
mod guards;
mod hooks;
mod leases;
mod matching;
mod order;
mod reads;
mod rules;
mod scenarios;
mod sender;
mod states;
mod told;
mod two_bots;
mod upgrade;
mod watching;
mod world;
