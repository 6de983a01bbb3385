//! A real PostgreSQL for tests: one cluster for all test processes, a fresh database for each test.

mod cluster;
mod database;
pub mod files;

pub use cluster::server;
pub use database::{TestDb, admin};
