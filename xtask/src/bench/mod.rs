//! Measurements beside peers, as ratios, in one run on one machine.

pub(crate) mod actions;
pub(crate) mod extract;
pub(crate) mod ingest;
pub(crate) mod jobs;
mod machine;
pub(crate) mod posting;
pub(crate) mod retrieval;
pub(crate) mod shopbot;
mod stage;
