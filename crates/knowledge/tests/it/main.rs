//! The promises of knowledge, on a real PostgreSQL.

mod catalog;
mod context;
mod contracts;
mod edits;
mod forgetting;
mod ingest;
mod kept;
mod members;
mod world;
