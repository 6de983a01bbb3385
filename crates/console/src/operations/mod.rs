//! The pages about the program itself: overview, jobs, journal.

mod data;
mod pages;

pub(crate) use pages::{changes, router};
