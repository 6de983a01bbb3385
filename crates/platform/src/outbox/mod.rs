//! The outbox: one engine that claims effects, performs them outside and records what came of each, for every module that has
//! something to send. A module supplies [`Outbox`]; the engine has pacing, wake-ups, limits, leases, shutdown and draining.
//!
//! Guarantees, given an `Outbox` whose SQL keeps them (one claim per effect, a claim token that fences its results):
//! - No transaction and no connection is held while an effect is performed.
//! - An effect begins only while its lease holds: a worker that was stopped asks again before it touches the network.
//! - A result is kept until the database has it. What a process holds in memory may be lost at any moment: leases return it.
//! - Every wait has an end: an answer that the network swallowed blocks neither the rounds nor the end of the process.
//! - Trouble in one workspace does not keep the others from being served.

mod engine;
mod lanes;
mod record;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use kernel::WorkspaceId;
use uuid::Uuid;

use crate::{Db, DbError, wake::Topic};

pub use engine::Engine;
pub use record::{Finished, record_apart, record_together, retry_until_recorded};

/// What a module supplies. Nothing here decides how often or how much: the engine does.
pub trait Outbox: Send + Sync + 'static {
    /// Something to do outside, claimed, with all that is needed to do it.
    type Effect: Send + Sync + 'static;
    /// What can be found out before the lease is looked at for the last time: credentials, what the effect's fields mean.
    type Prepared: Send + 'static;
    type Outcome: Send + Sync + 'static;

    /// In logs, claim tokens and failpoints.
    const NAME: &'static str;
    /// Told when there may be something to claim.
    const TOPIC: Topic;
    const PACE: Pace;
    /// How long an effect is this worker's after its claim. Half of it must be enough to perform one step of the effect.
    const LEASE: Duration;

    fn db(&self) -> &Db;

    fn effect_id(effect: &Self::Effect) -> Uuid;

    /// The workspaces that may have something to claim, without those that the engine visits anyway.
    fn due_workspaces(&self, known: &[WorkspaceId]) -> impl Future<Output = Result<Vec<WorkspaceId>, DbError>> + Send;

    /// Claims up to `limit` effects; `token` fences their results.
    fn claim(
        &self,
        workspace: WorkspaceId,
        token: &str,
        limit: i32,
    ) -> impl Future<Output = Result<Claimed<Self::Effect>, DbError>> + Send;

    /// Starts effects that were claimed for a slot which has come; those that may not start yet are left out.
    fn start(
        &self,
        _workspace: WorkspaceId,
        _token: &str,
        _ids: &[Uuid],
    ) -> impl Future<Output = Result<Vec<Self::Effect>, DbError>> + Send {
        async { Ok(Vec::new()) }
    }

    /// When there may be something to claim in a workspace where there is nothing now.
    fn next_due_at(&self, workspace: WorkspaceId) -> impl Future<Output = Result<Option<Timestamp>, DbError>> + Send;

    /// Called before a claim, at most once a second for each workspace.
    fn tidy(&self, _workspace: WorkspaceId) -> impl Future<Output = Result<(), DbError>> + Send {
        async { Ok(()) }
    }

    /// Whether the worker with this claim still holds the effect.
    fn is_held(&self, effect: &Self::Effect) -> impl Future<Output = Result<bool, DbError>> + Send;

    /// An error here is the outcome, without an attempt.
    fn prepare(&self, effect: &Self::Effect) -> impl Future<Output = Result<Self::Prepared, Self::Outcome>> + Send;

    /// Does it. Nothing when the lease was lost on the way: then there is nothing to record.
    fn perform(&self, effect: &Self::Effect, prepared: Self::Prepared) -> impl Future<Output = Option<Self::Outcome>> + Send;

    /// Records what came of effects of one workspace; with [`record_apart`], [`record_together`] or [`retry_until_recorded`], because a lost result means doing it again.
    fn record(
        &self,
        workspace: WorkspaceId,
        finished: &[Finished<Self::Effect, Self::Outcome>],
    ) -> impl Future<Output = ()> + Send;

    /// Says that the worker lives, so that what it has claimed and not started is left to it.
    fn beat(&self, _worker: &str) -> impl Future<Output = Result<(), DbError>> + Send {
        async { Ok(()) }
    }

    /// Returns claims that this worker will not start: it stops.
    fn release(
        &self,
        _workspace: WorkspaceId,
        _ids: &[Uuid],
        _tokens: &[String],
    ) -> impl Future<Output = Result<(), DbError>> + Send {
        async { Ok(()) }
    }
}

/// What a claim took.
#[derive(Debug)]
pub struct Claimed<E> {
    /// To be performed at once.
    pub started: Vec<E>,
    /// Claimed for a slot; the engine starts them when it has come.
    pub slots: Vec<(Timestamp, Uuid)>,
}

/// How closely rounds follow each other: a claim costs the database almost the same for one effect as for a hundred.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The shortest time from one round to the next.
    pub shortest: Duration,
    /// The same after a round that started at least `busy_from`, because more is on its way.
    pub busy: Duration,
    pub busy_from: usize,
    /// What one claim takes at most: a busy workspace must not keep the others waiting for its turn to end.
    pub claim_max: usize,
}

/// How much one process performs at once.
#[derive(Clone, Copy, Debug)]
pub struct OutboxLimits {
    pub in_flight_max: usize,
    /// One workspace may not take all places: the others' effects must find some free.
    pub in_flight_per_workspace_max: usize,
}

impl OutboxLimits {
    /// With half of all places for one workspace.
    pub fn of(in_flight_max: usize) -> Self {
        Self { in_flight_max, in_flight_per_workspace_max: (in_flight_max / 2).max(1) }
    }
}
