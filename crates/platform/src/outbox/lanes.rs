//! What a worker remembers of each workspace: how much it has under way there, and which claims wait for their slot.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use kernel::WorkspaceId;
use tokio::time::Instant;
use uuid::Uuid;

/// A workspace is visited for this long after its last effect.
const BUSY_FOR: Duration = Duration::from_secs(3);
const TIDY_EVERY: Duration = Duration::from_secs(1);
/// A slot that has come by our clock may not have come by the database's, or a gate may be full: then again shortly, and
/// after some tries never, because another worker has the claim or it expires by itself.
const TRIES_MAX: u32 = 50;
const TRY_AGAIN_AFTER: SignedDuration = SignedDuration::from_millis(50);

/// A claim whose slot has not come.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) slot: Timestamp,
    pub(super) token: String,
    pub(super) id: Uuid,
    tries: u32,
}

impl Held {
    pub(super) fn new(slot: Timestamp, token: &str, id: Uuid) -> Self {
        Self { slot, token: token.to_owned(), id, tries: 0 }
    }

    /// The same for a later try; nothing after the last one.
    pub(super) fn later(self, now: Timestamp) -> Option<Self> {
        let tries = self.tries + 1;
        (tries < TRIES_MAX).then(|| Self { slot: now + TRY_AGAIN_AFTER, tries, ..self })
    }
}

#[derive(Debug, Default)]
struct WorkspaceLane {
    in_flight: Arc<AtomicUsize>,
    /// When a round last started something here.
    busy_at: Option<Instant>,
    tidied_at: Option<Instant>,
    held: Vec<Held>,
}

#[derive(Debug, Default)]
pub(super) struct WorkspaceLanes {
    lanes: Mutex<HashMap<WorkspaceId, WorkspaceLane>>,
}

impl WorkspaceLanes {
    /// Where something was started lately, or claims wait. In one order, so that rounds can begin with another workspace each time.
    pub(super) fn busy(&self) -> Vec<WorkspaceId> {
        let is_busy = |lane: &WorkspaceLane| !lane.held.is_empty() || lane.busy_at.is_some_and(|at| at.elapsed() < BUSY_FOR);
        let mut busy: Vec<_> = self.lock().iter().filter(|(_, lane)| is_busy(lane)).map(|(id, _)| *id).collect();
        busy.sort_unstable();
        busy
    }

    pub(super) fn is_tidy_due(&self, workspace: WorkspaceId) -> bool {
        let mut lanes = self.lock();
        let lane = lanes.entry(workspace).or_default();
        if lane.tidied_at.is_some_and(|at| at.elapsed() < TIDY_EVERY) {
            return false;
        }
        lane.tidied_at = Some(Instant::now());
        true
    }

    /// What is under way in a workspace, and the claims whose slot has come, which are the caller's from now on.
    pub(super) fn take_due(&self, workspace: WorkspaceId, now: Timestamp) -> (Arc<AtomicUsize>, Vec<Held>) {
        let mut lanes = self.lock();
        let lane = lanes.entry(workspace).or_default();
        let (due, ahead) = std::mem::take(&mut lane.held).into_iter().partition(|held| held.slot <= now);
        lane.held = ahead;
        (Arc::clone(&lane.in_flight), due)
    }

    pub(super) fn hold(&self, workspace: WorkspaceId, held: impl IntoIterator<Item = Held>) {
        self.lock().entry(workspace).or_default().held.extend(held);
    }

    pub(super) fn has_started(&self, workspace: WorkspaceId) {
        self.lock().entry(workspace).or_default().busy_at = Some(Instant::now());
    }

    pub(super) fn next_slot(&self, workspace: WorkspaceId) -> Option<Timestamp> {
        self.lock().get(&workspace)?.held.iter().map(|held| held.slot).min()
    }

    /// All claims that wait, which are the caller's from now on; workspaces where nothing is going on are forgotten.
    pub(super) fn take_all(&self) -> Vec<(WorkspaceId, Vec<Held>)> {
        let mut lanes = self.lock();
        let held = lanes.iter_mut().map(|(id, lane)| (*id, std::mem::take(&mut lane.held))).collect();
        lanes.retain(|_, lane| lane.in_flight.load(Ordering::Acquire) > 0);
        held
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WorkspaceId, WorkspaceLane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
