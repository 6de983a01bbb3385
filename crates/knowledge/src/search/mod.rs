//! Search: what an audience may see of a question's answer, best first.
//!
//! Guarantees: the audience is decided in SQL before anything is ranked; the same analyzer reads texts and questions; a chunk whose
//! share of the best possible score reaches [`SHARE_MIN`] is not missed.

mod fusion;
mod hits;
mod question;
mod run;
pub(crate) mod terms;

pub use hits::{Hit, Neighbour, SourceRef};
pub use question::SHARE_MIN;
pub use run::{Asker, FoundChunks, LIMIT_MAX, QuestionChannel, SearchRequest, search};
