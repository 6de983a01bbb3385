//! Answers: what is said to a question, from what its audience may see and nothing else.
//!
//! Guarantees: each statement names its source; where too little was found the answer says so and cites nothing; texts of sources
//! are data, whatever they tell a model to do; nothing of a source can become a link, a mention or a command.

mod activity;
mod compose;
mod membership;
mod model;
mod run;
mod shape;
mod turn;

pub use activity::{Activity, NoActivity};
pub use compose::Statement;
pub(crate) use membership::prove as prove_membership;
pub(crate) use run::{answer_turn, told};
pub(crate) use turn::QuestionTurn;
