//! The rounds of a worker: over the workspaces, claiming what is due and performing it, until told to stop.

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use kernel::WorkspaceId;
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

use super::{
    Outbox, OutboxLimits,
    lanes::{Held, WorkspaceLanes},
    record::{EndedEffect, Finished, record_all},
};
use crate::{
    DbError,
    db::{ANSWER_MAX, within},
    failpoint,
};

/// The longest sleep while something waits: times that move (a window, an operator's resume) are found by looking.
const LOOK_WHILE_WAITING: Duration = Duration::from_secs(1);
/// The longest sleep when there is nothing: what is enqueued in plain SQL rings no bell.
const LOOK_WHILE_IDLE: Duration = Duration::from_secs(5);
const BEAT_EVERY: Duration = Duration::from_secs(5);
/// Workspaces that are claimed for at once.
const CLAIMS_AT_ONCE: usize = 4;
/// How long a round waits for the visit of one workspace; then it goes on without it, and the visit comes to its end by itself.
const VISIT_MAX: Duration = Duration::from_secs(2);
/// Visits that a round goes on without: each holds a connection.
const LEFT_BEHIND_MAX: usize = 8;
/// A worker that was stopped for longer than this asks whether the effect is still its own before it touches the network.
const TRUST_LEASE_FOR: Duration = Duration::from_secs(2);
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// Providers' clients give up long before: what lasts longer waits for an answer of the database that will never come.
const EFFECT_MAX: Duration = Duration::from_mins(10);
/// How long a stop waits for effects under way, and then for their results to be recorded.
const STOP_MAX: Duration = Duration::from_mins(1);

/// A worker on one outbox.
pub struct Engine<T: Outbox> {
    inner: Arc<EngineInner<T>>,
}

impl<T: Outbox> Clone for Engine<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

struct EngineInner<T> {
    outbox: T,
    limits: OutboxLimits,
    /// The first part of every claim token of this worker.
    worker: String,
    claims: AtomicU64,
    in_flight: AtomicUsize,
    /// An effect or a visit that nobody waited for has ended: there may be room, and what waited for it may go.
    ended: Notify,
    lanes: WorkspaceLanes,
    /// The workspaces whose visit has not come to its end: there is one at a time.
    visited: Mutex<HashSet<WorkspaceId>>,
    tasks: TaskTracker,
}

type ResultSender<T> = mpsc::UnboundedSender<EndedEffect<<T as Outbox>::Effect, <T as Outbox>::Outcome>>;

/// What a round came to.
#[derive(Debug, Default)]
struct Round {
    started: usize,
    /// There may be more where this came from.
    is_more: bool,
    wake_at: Option<Timestamp>,
    is_any: bool,
    /// What went wrong in one workspace; the rest is of the others.
    trouble: Option<DbError>,
}

impl<T: Outbox> Engine<T> {
    pub fn new(outbox: T, limits: OutboxLimits) -> Self {
        let inner = EngineInner {
            outbox,
            limits,
            worker: Uuid::new_v4().simple().to_string()[..8].to_owned(),
            claims: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            ended: Notify::new(),
            lanes: WorkspaceLanes::default(),
            visited: Mutex::default(),
            tasks: TaskTracker::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Works until told to stop, then lets what is under way come to its end and returns the rest.
    pub async fn run(self, stop: CancellationToken) {
        let (results, receiver) = mpsc::unbounded_channel();
        let recording = tokio::spawn(record_all(self.clone(), receiver));
        let beating = tokio::spawn(self.clone().beat());
        self.go_round(&results, &stop).await;
        self.inner.tasks.close();
        if tokio::time::timeout(STOP_MAX, self.inner.tasks.wait()).await.is_err() {
            tracing::warn!(outbox = T::NAME, left = self.in_flight(), "outbox.stop");
        }
        drop(results);
        let _ = tokio::time::timeout(STOP_MAX, recording).await;
        self.release_held().await;
        beating.abort();
    }

    /// Works until nothing is due any more; for tests, which move the clock themselves. Returns how many effects it started.
    pub async fn drain(&self) -> Result<usize, DbError> {
        let (results, receiver) = mpsc::unbounded_channel();
        let recording = tokio::spawn(record_all(self.clone(), receiver));
        let mut started = 0;
        loop {
            let round = self.round(&results, 0, Duration::MAX).await?;
            started += round.started;
            if let Some(error) = round.trouble {
                return Err(error);
            }
            if round.started == 0 && self.in_flight() == 0 {
                break;
            }
            while self.in_flight() > 0 {
                self.inner.ended.notified().await;
            }
        }
        drop(results);
        let _ = recording.await;
        Ok(started)
    }

    pub(super) fn outbox(&self) -> &T {
        &self.inner.outbox
    }

    /// So much is under way that more results are about to come.
    pub(super) fn is_busy(&self) -> bool {
        self.in_flight() > 64
    }

    /// The result of an effect is in the database: its places are free.
    pub(super) fn has_ended(&self, in_flight_here: &AtomicUsize) {
        in_flight_here.fetch_sub(1, Ordering::AcqRel);
        self.inner.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.inner.ended.notify_one();
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight.load(Ordering::Acquire)
    }

    async fn go_round(&self, results: &ResultSender<T>, stop: &CancellationToken) {
        let mut news = self.outbox().db().wake().subscribe(T::TOPIC);
        let mut last_round = Instant::now();
        let mut pace = T::PACE.shortest;
        for number in 0.. {
            tokio::time::sleep_until(last_round + pace).await;
            if stop.is_cancelled() {
                return;
            }
            last_round = Instant::now();
            news.borrow_and_update();
            let round = self.round(results, number, VISIT_MAX).await;
            let round = round.unwrap_or_else(|error| Round { is_any: true, trouble: Some(error), ..Round::default() });
            if let Some(error) = &round.trouble {
                tracing::warn!(%error, outbox = T::NAME, "outbox.round");
            }
            pace = match round.started {
                started if started >= T::PACE.claim_max => Duration::ZERO,
                started if started >= T::PACE.busy_from => T::PACE.busy,
                _ => T::PACE.shortest,
            };
            let has_room = self.in_flight() * 4 <= self.inner.limits.in_flight_max * 3;
            if round.started > 0 && round.is_more && has_room {
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                _ = news.changed() => {}
                () = self.inner.ended.notified() => {}
                () = tokio::time::sleep(self.sleep_for(&round)) => {}
            }
        }
    }

    fn sleep_for(&self, round: &Round) -> Duration {
        let is_waiting = round.is_any || self.in_flight() > 0;
        let longest = if is_waiting { LOOK_WHILE_WAITING } else { LOOK_WHILE_IDLE };
        let now = self.outbox().db().clock().now();
        let until = round.wake_at.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
        // Never in a tight loop: what is due and cannot be claimed (a full gate) is looked at again when something ends.
        until.unwrap_or(longest).clamp(Duration::from_millis(20), longest)
    }

    /// One round over all workspaces, beginning with another one each time. A workspace whose visit takes longer than `patience` keeps the others
    /// waiting no more.
    async fn round(&self, results: &ResultSender<T>, number: usize, patience: Duration) -> Result<Round, DbError> {
        let mut workspaces = self.inner.lanes.busy();
        let due = within(ANSWER_MAX, self.outbox().due_workspaces(&workspaces)).await?;
        workspaces.extend(due);
        let mut total = Round { is_any: !workspaces.is_empty(), ..Round::default() };
        if workspaces.is_empty() {
            return Ok(total);
        }
        let first = number % workspaces.len();
        workspaces.rotate_left(first);
        let visits = workspaces.into_iter().map(|workspace| self.visit_within(patience, workspace, results));
        let mut visits = futures::stream::iter(visits).buffer_unordered(CLAIMS_AT_ONCE);
        // Trouble in one workspace must not break off the others in the middle of a claim.
        while let Some(visit) = visits.next().await {
            match visit {
                Ok(round) => {
                    total.started += round.started;
                    total.is_more |= round.is_more;
                    total.wake_at = [total.wake_at, round.wake_at].into_iter().flatten().min();
                }
                Err(error) => total.trouble = Some(error),
            }
        }
        Ok(total)
    }

    /// A visit on a task of its own: to break it off in the middle of a claim would leave what was claimed to nobody.
    async fn visit_within(
        &self,
        patience: Duration,
        workspace: WorkspaceId,
        results: &ResultSender<T>,
    ) -> Result<Round, DbError> {
        let left_behind = {
            let mut visited = self.inner.visited.lock().unwrap_or_else(PoisonError::into_inner);
            if !visited.insert(workspace) {
                return Ok(Round::default());
            }
            visited.len().saturating_sub(CLAIMS_AT_ONCE)
        };
        let is_late = Arc::new(AtomicBool::new(false));
        let visit = self.clone().visit_alone(workspace, results.clone(), Arc::clone(&is_late));
        let mut visit = self.inner.tasks.spawn(visit);
        let patience = if left_behind < LEFT_BEHIND_MAX { patience } else { Duration::MAX };
        match tokio::time::timeout(patience, &mut visit).await {
            Ok(ended) => ended.unwrap_or_else(|_cancelled| Ok(Round::default())),
            Err(_elapsed) => {
                is_late.store(true, Ordering::Release);
                tracing::warn!(outbox = T::NAME, workspace.id = %workspace, "outbox.slow_visit");
                Ok(Round::default())
            }
        }
    }

    async fn visit_alone(
        self,
        workspace: WorkspaceId,
        results: ResultSender<T>,
        is_late: Arc<AtomicBool>,
    ) -> Result<Round, DbError> {
        let round = AssertUnwindSafe(self.visit(workspace, &results)).catch_unwind().await.unwrap_or_else(|_panic| {
            tracing::error!(outbox = T::NAME, workspace.id = %workspace, "outbox.visit_panicked");
            Ok(Round::default())
        });
        self.inner.visited.lock().unwrap_or_else(PoisonError::into_inner).remove(&workspace);
        // Nobody hears any more what it came to: the next round looks.
        if is_late.load(Ordering::Acquire) {
            if let Err(error) = &round {
                tracing::warn!(%error, outbox = T::NAME, workspace.id = %workspace, "outbox.visit");
            }
            self.inner.ended.notify_one();
        }
        round
    }

    async fn visit(&self, workspace: WorkspaceId, results: &ResultSender<T>) -> Result<Round, DbError> {
        let (outbox, lanes, limits) = (self.outbox(), &self.inner.lanes, &self.inner.limits);
        if lanes.is_tidy_due(workspace)
            && let Err(error) = within(ANSWER_MAX, outbox.tidy(workspace)).await
        {
            // Without it a claim is slower and not wrong.
            tracing::warn!(%error, outbox = T::NAME, "outbox.tidy");
        }
        let now = || outbox.db().clock().now();
        let (in_flight, due) = lanes.take_due(workspace, now());
        let mut round = Round { started: self.start_held(workspace, due, &in_flight, results).await?, ..Round::default() };
        let free_here = limits.in_flight_per_workspace_max.saturating_sub(in_flight.load(Ordering::Acquire));
        let free = free_here.min(limits.in_flight_max.saturating_sub(self.in_flight()));
        // A few places are not worth a claim; more are about to be free.
        if free * 4 < limits.in_flight_per_workspace_max {
            round.is_more = true;
            return Ok(round);
        }
        let limit = i32::try_from(free.min(T::PACE.claim_max)).unwrap_or(i32::MAX);
        let token = format!("{}-{}", self.inner.worker, self.inner.claims.fetch_add(1, Ordering::Relaxed));
        let claimed_at = Instant::now();
        let claimed = within(ANSWER_MAX, outbox.claim(workspace, &token, limit)).await?;
        failpoint::hit_in(T::NAME, "claimed");
        let is_empty = claimed.started.is_empty() && claimed.slots.is_empty();
        let mut started = claimed.started.len();
        self.perform_all(workspace, claimed.started, claimed_at, &in_flight, results);
        let held = claimed.slots.into_iter().map(|(slot, id)| Held::new(slot, &token, id));
        let (due, ahead): (Vec<Held>, Vec<Held>) = held.partition(|held| held.slot <= now());
        lanes.hold(workspace, ahead);
        started += self.start_held(workspace, due, &in_flight, results).await?;
        round.started += started;
        round.is_more = started > 0;
        if round.started > 0 {
            lanes.has_started(workspace);
        }
        let due = if is_empty { within(ANSWER_MAX, outbox.next_due_at(workspace)).await? } else { None };
        round.wake_at = [due, lanes.next_slot(workspace)].into_iter().flatten().min();
        Ok(round)
    }

    /// Starts what was claimed for a slot that has come now.
    async fn start_held(
        &self,
        workspace: WorkspaceId,
        due: Vec<Held>,
        in_flight: &Arc<AtomicUsize>,
        results: &ResultSender<T>,
    ) -> Result<usize, DbError> {
        let mut by_token: HashMap<String, Vec<Held>> = HashMap::new();
        for held in due {
            by_token.entry(held.token.clone()).or_default().push(held);
        }
        let mut started = 0;
        let mut trouble = None;
        for (token, held) in by_token {
            let ids: Vec<Uuid> = held.iter().map(|held| held.id).collect();
            // From before the answer: a worker that was stopped while it waited for it has had the lease for that long too.
            let started_at = Instant::now();
            let effects = within(ANSWER_MAX, self.outbox().start(workspace, &token, &ids)).await.unwrap_or_else(|error| {
                // The claims are still ours: forgotten here, they would keep their channels waiting until they expire.
                trouble = Some(error);
                Vec::new()
            });
            started += effects.len();
            let begun: HashSet<Uuid> = effects.iter().map(T::effect_id).collect();
            let now = self.outbox().db().clock().now();
            let left = held.into_iter().filter(|held| !begun.contains(&held.id)).filter_map(|held| held.later(now));
            self.inner.lanes.hold(workspace, left);
            self.perform_all(workspace, effects, started_at, in_flight, results);
        }
        trouble.map_or(Ok(started), Err)
    }

    fn perform_all(
        &self,
        workspace: WorkspaceId,
        effects: Vec<T::Effect>,
        leased_at: Instant,
        in_flight: &Arc<AtomicUsize>,
        results: &ResultSender<T>,
    ) {
        for effect in effects {
            self.inner.in_flight.fetch_add(1, Ordering::AcqRel);
            in_flight.fetch_add(1, Ordering::AcqRel);
            let (engine, results, in_flight) = (self.clone(), results.clone(), Arc::clone(in_flight));
            self.inner.tasks.spawn(async move {
                let performed = AssertUnwindSafe(engine.perform(&effect, leased_at)).catch_unwind();
                let outcome = match tokio::time::timeout(EFFECT_MAX, performed).await {
                    Ok(Ok(outcome)) => outcome,
                    // Its places are freed; the lease decides about the effect, of which nothing is known.
                    Ok(Err(_panic)) => Self::no_outcome(&effect, "panicked"),
                    Err(_elapsed) => Self::no_outcome(&effect, "did not end"),
                };
                let finished = outcome.map(|outcome| Finished { effect, outcome });
                // The receiver outlives every task: it ends only when the last sender is gone.
                let _ = results.send(EndedEffect { workspace, finished, in_flight });
            });
        }
    }

    fn no_outcome(effect: &T::Effect, why: &str) -> Option<T::Outcome> {
        tracing::error!(outbox = T::NAME, effect.id = %T::effect_id(effect), why, "outbox.no_outcome");
        None
    }

    /// Nothing when the effect is another worker's by now.
    async fn perform(&self, effect: &T::Effect, leased_at: Instant) -> Option<T::Outcome> {
        let prepared = match self.outbox().prepare(effect).await {
            Ok(prepared) => prepared,
            Err(outcome) => return Some(outcome),
        };
        failpoint::hit_in(T::NAME, "before_send");
        if !self.holds(effect, leased_at).await {
            tracing::warn!(outbox = T::NAME, effect.id = %T::effect_id(effect), "outbox.lease_lost");
            return None;
        }
        self.outbox().perform(effect, prepared).await
    }

    /// Asks again while the database is away. A lease that is half over is taken for lost: it could end while the provider is called.
    async fn holds(&self, effect: &T::Effect, leased_at: Instant) -> bool {
        if leased_at.elapsed() <= TRUST_LEASE_FOR {
            return true;
        }
        while leased_at.elapsed() < T::LEASE / 2 {
            match within(ANSWER_MAX, self.outbox().is_held(effect)).await {
                Ok(is_held) => return is_held && leased_at.elapsed() < T::LEASE / 2,
                Err(error) => tracing::warn!(%error, outbox = T::NAME, "outbox.is_held"),
            }
            tokio::time::sleep(ASK_AGAIN_AFTER).await;
        }
        false
    }

    async fn beat(self) {
        loop {
            if let Err(error) = within(ANSWER_MAX, self.outbox().beat(&self.inner.worker)).await {
                tracing::debug!(%error, outbox = T::NAME, "outbox.beat");
            }
            tokio::time::sleep(BEAT_EVERY).await;
        }
    }

    /// What was claimed for a slot that will not come here any more is for other workers.
    async fn release_held(&self) {
        for (workspace, held) in self.inner.lanes.take_all() {
            let ids: Vec<Uuid> = held.iter().map(|held| held.id).collect();
            let tokens: Vec<String> = held.into_iter().map(|held| held.token).collect();
            if !ids.is_empty()
                && let Err(error) = within(STOP_MAX, self.outbox().release(workspace, &ids, &tokens)).await
            {
                tracing::warn!(%error, outbox = T::NAME, "outbox.release");
            }
        }
    }
}
