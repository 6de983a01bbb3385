//! What tests share: a real PostgreSQL with a fresh database for each test, the world of a workspace, the rules of the catalog, simulated
//! providers, requests, and waiting.

pub mod alerts;
pub mod catalog;
pub mod clients;
mod cluster;
mod database;
pub mod events;
mod extractor;
pub mod files;
pub mod http;
pub mod openapi;
mod providers;
mod waiting;
mod wire;
mod world;

pub use cluster::server;
pub use database::{TestDb, admin, before, settings};
pub use extractor::extract_program;
pub use providers::WorldWithProviders;
pub use waiting::{PATIENCE, until};
pub use wire::LossyWire;
pub use world::{World, code};
