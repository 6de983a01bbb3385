//! Work that must be done once the transaction that asked for it has committed, whatever crashes in between.
//!
//! [`enqueue`] adds jobs inside the caller's transaction. A [`Runner`] claims them in batches under a lease, runs
//! the handlers that modules registered, and ends them in batches. `sql/functions/claim_jobs.sql` has the guarantees.

mod handler;
mod lanes;
mod now;
mod runner;
pub mod store;

pub use handler::{Job, JobError, JobType, Registry};
pub use now::{RanNow, run_now};
pub use runner::{Drained, Runner};
pub use store::{NewJob, enqueue, enqueue_many};
