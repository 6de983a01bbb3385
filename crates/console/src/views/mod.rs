//! What the pages show: structs of words and numbers that are ready to print. Nothing here asks the database or the clock.
//!
//! A struct with a template prints itself: the region of a page, or a part that several pages have (`{{ row.status }}`). The
//! root element of a region has `data-fragment`, by which the script finds it again, and `data-announce`, which is read out
//! when it changes.

mod actions;
mod alone;
mod operations;
mod parts;
mod planner;
mod posting;
mod rules;
mod shopbot;
mod write;

#[cfg(test)]
mod tests;

pub use actions::*;
pub use alone::*;
pub use operations::*;
pub use parts::*;
pub use planner::*;
pub use posting::*;
pub use rules::*;
pub use shopbot::*;
pub use write::*;
