//! The platform's promises, on a real PostgreSQL. One file per promise.

mod bus;
mod catalog;
mod install;
mod jobs;
mod journal;
mod objects;
mod tenancy;
mod tokens;
