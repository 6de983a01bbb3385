//! The promises of webhooks, on a real PostgreSQL and with a receiver on a real socket.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod alerts;
mod catalog;
mod console;
mod events;
mod http;
mod leases;
mod manage;
mod resend;
mod retries;
mod sending;
mod signatures;
mod upkeep;
mod world;
