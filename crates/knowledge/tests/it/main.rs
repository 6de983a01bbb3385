//! The promises of knowledge, on a real PostgreSQL.

mod answers;
mod asking;
mod assistant;
mod attached;
mod canaries;
mod catalog;
mod commands;
mod context;
mod contracts;
mod edits;
mod forgetting;
mod import;
mod ingest;
mod kept;
mod kinds;
mod links;
mod members;
mod moved;
mod questions;
mod reads;
mod search;
mod senders;
mod transport;
mod vectors;
mod world;
