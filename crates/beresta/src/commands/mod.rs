//! One file per command.

pub(crate) mod database;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod knowledge;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod ops;
pub(crate) mod seed;
pub(crate) mod serve;
pub(crate) mod shopbot;
pub(crate) mod simulate;
pub(crate) mod token;
pub(crate) mod webhook;
pub(crate) mod workspace;

/// Says on standard error what takes long; standard output is for results.
pub(crate) fn progress(line: &str) {
    eprintln!("{line}");
}
