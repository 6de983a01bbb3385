//! The platform's promises, on a real PostgreSQL. One file per promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod alerts;
mod bus;
mod catalog;
mod door;
mod gates;
mod install;
mod jobs;
mod journal;
mod layers;
mod lost_answers;
mod now;
mod objects;
mod retention;
mod runner;
mod secrets;
mod shared;
mod tenancy;
mod tokens;
mod webhooks;
