//! What the pages show: one struct per template, holding words and numbers that are ready to print.
//!
//! Nothing here asks the database or the clock. A page that lives inside the console has a [`Shell`] named `shell`,
//! which `layout.html` prints. A live region has a template of its own under `templates/fragments/`: the page includes
//! it, and a `…Fragment` struct renders it alone, from a field of the same name.

mod actions;
mod alone;
mod lists;
mod overview;
mod planner;
mod posting;
mod rules;
mod shopbot;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub use actions::*;
pub use alone::*;
pub use lists::*;
pub use overview::*;
pub use planner::*;
pub use posting::*;
pub use rules::*;
pub use shopbot::*;
pub use words::*;
pub use write::*;
