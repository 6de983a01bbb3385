//! A real PostgreSQL for tests: one cluster for all test processes, a fresh database for each test.

pub mod clients;
mod cluster;
mod database;
pub mod files;
pub mod openapi;

pub use cluster::server;
pub use database::{TestDb, admin, settings};
