//! The dispatcher: goes round the workspaces, claims what is due, sends it, and records what came of it.
//!
//! It decides nothing about who may be sent to and when: `posting.claim_deliveries` and `posting.start_sending` do. It holds no transaction and no
//! connection while a provider is called. What it holds in memory may be lost at any moment: leases give it back.

mod credentials;
mod finish;
mod media;
mod send;

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use kernel::WorkspaceId;
use messengers::Messenger;
use outbound::Fetcher;
use platform::{Db, DbError, failpoint, objects::Objects, wake::Topic};
use tokio::sync::{Mutex, Notify, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

pub use credentials::Credentials;

use crate::store::{self, Sending};
use finish::{Finish, Finisher};

/// How much is under way at once in one process.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub in_flight_max: usize,
    /// One workspace may not take all places: the others' posts must find some free.
    pub in_flight_per_workspace_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { in_flight_max: 2048, in_flight_per_workspace_max: 1024 }
    }
}

/// The longest sleep while something is under way: times that move (a window, an operator's resume) are found by looking.
const LOOK_WHILE_WAITING: Duration = Duration::from_secs(1);
/// The longest sleep when there is nothing: whoever enqueues in plain SQL tells nobody.
const LOOK_WHILE_IDLE: Duration = Duration::from_secs(5);
/// How often the beginnings of the queues are looked up again.
const HEADS_EVERY: Duration = Duration::from_secs(1);
/// A workspace is visited for this long after its last delivery, so that the heads of its queues come to stand behind what was finished.
const BUSY_FOR: Duration = Duration::from_secs(3);
/// A third of the time after which a silent dispatcher's claims are taken back.
const BEAT_EVERY: Duration = Duration::from_secs(5);
/// The shortest time from one round to the next, and when the last one started so much that more is on its way: a claim costs the
/// database almost the same for one delivery as for a hundred. After a full claim there is nothing to wait for.
const PACE: Duration = Duration::from_millis(15);
const PACE_WHEN_BUSY: Duration = Duration::from_millis(40);
const BUSY_FROM: usize = 64;
/// What one claim takes at most: a busy workspace must not keep the others waiting for its turn to end.
const CLAIM_MAX: usize = 256;
/// Workspaces that are claimed for at once.
const CLAIMS_AT_ONCE: usize = 4;

/// What the dispatcher works with.
#[derive(Clone, Debug)]
pub struct Tools {
    pub db: Db,
    pub telegram: Messenger,
    pub max: Messenger,
    pub objects: Objects,
    pub fetcher: Fetcher,
    pub credentials: Credentials,
}

#[derive(Clone)]
pub struct Dispatcher {
    inner: Arc<Inner>,
}

struct Inner {
    tools: Tools,
    settings: Settings,
    /// The first part of every claim token of this process.
    name: String,
    claims: AtomicU64,
    in_flight: AtomicUsize,
    /// Something was finished, so there may be room.
    finished: Notify,
    places: Mutex<HashMap<WorkspaceId, Place>>,
    tasks: TaskTracker,
}

/// Where this process stands in one workspace.
#[derive(Default)]
struct Place {
    in_flight: Arc<AtomicUsize>,
    /// When a round last found something to send here.
    busy_at: Option<Instant>,
    heads_at: Option<Instant>,
    /// Claimed for a slot that is still ahead.
    waiting: Vec<Held>,
}

impl Place {
    fn is_busy(&self) -> bool {
        self.busy_at.is_some_and(|at| at.elapsed() < BUSY_FOR)
    }
}

/// A claim whose slot has not come.
#[derive(Clone, Debug)]
struct Held {
    slot: Timestamp,
    token: String,
    delivery_id: Uuid,
    tries: u32,
}

/// A slot that has come by our clock may not have come by the database's, or the gate may be full: then again shortly, and
/// after some tries never, because the claim is somebody else's or expires by itself.
const TRIES_MAX: u32 = 50;
const TRY_AGAIN_AFTER: SignedDuration = SignedDuration::from_millis(50);

/// What a round came to.
#[derive(Debug, Default)]
struct Round {
    started: usize,
    /// There may be more where this came from.
    is_more: bool,
    wake_at: Option<Timestamp>,
    is_any: bool,
}

impl Dispatcher {
    pub fn new(tools: Tools, settings: Settings) -> Self {
        let name = Uuid::new_v4().simple().to_string()[..8].to_owned();
        let inner = Inner {
            tools,
            settings,
            name,
            claims: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            finished: Notify::new(),
            places: Mutex::default(),
            tasks: TaskTracker::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Works until told to stop, then lets what is being sent come to its end.
    pub async fn run(self, stop: CancellationToken) {
        let inner = &self.inner;
        let (finisher, results) = Finisher::new(&inner.tools);
        let finishing = tokio::spawn(finisher.run(self.clone(), results.1));
        let mut news = inner.tools.db.wake().subscribe(Topic::Deliveries);
        let beating = tokio::spawn(self.clone().beat());
        let mut start_at = 0;
        let mut last_round = Instant::now();
        let mut pace = PACE;
        while !stop.is_cancelled() {
            if let Some(early) = (last_round + pace).checked_duration_since(Instant::now()) {
                tokio::time::sleep(early).await;
            }
            last_round = Instant::now();
            news.borrow_and_update();
            let round = self.round(&results.0, start_at).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "dispatcher.round");
                Round { is_any: true, ..Round::default() }
            });
            start_at += 1;
            pace = match round.started {
                CLAIM_MAX.. => Duration::ZERO,
                BUSY_FROM.. => PACE_WHEN_BUSY,
                _ => PACE,
            };
            if round.started > 0 && round.is_more && self.has_room() {
                continue;
            }
            let sleep = self.sleep_for(&round);
            tokio::select! {
                () = stop.cancelled() => {}
                _ = news.changed() => {}
                () = inner.finished.notified() => {}
                () = tokio::time::sleep(sleep) => {}
            }
        }
        inner.tasks.close();
        inner.tasks.wait().await;
        drop(results.0);
        let _ = finishing.await;
        self.give_back().await;
        beating.abort();
    }

    /// Says that this process is alive, so that nobody takes its claims away.
    async fn beat(self) {
        loop {
            if let Err(error) = store::beat(self.inner.tools.db.pool(), &self.inner.name).await {
                tracing::debug!(%error, "dispatcher.beat");
            }
            tokio::time::sleep(BEAT_EVERY).await;
        }
    }

    /// What was claimed for a slot that will now never come here is somebody else's to send.
    async fn give_back(&self) {
        for (workspace, place) in self.inner.places.lock().await.drain() {
            let ids: Vec<Uuid> = place.waiting.iter().map(|held| held.delivery_id).collect();
            let tokens: Vec<String> = place.waiting.iter().map(|held| held.token.clone()).collect();
            if !ids.is_empty()
                && let Err(error) = store::give_back(self.inner.tools.db.pool(), workspace, &ids, &tokens).await
            {
                tracing::warn!(%error, "dispatcher.give_back");
            }
        }
    }

    /// Works until nothing is due any more; for tests, which move the clock themselves. Returns how many sends it started.
    pub async fn drain(&self) -> Result<usize, DbError> {
        let (finisher, results) = Finisher::new(&self.inner.tools);
        let finishing = tokio::spawn(finisher.run(self.clone(), results.1));
        let mut started = 0;
        loop {
            let round = self.round(&results.0, 0).await?;
            started += round.started;
            if round.started == 0 && self.inner.in_flight.load(Ordering::Acquire) == 0 {
                break;
            }
            while self.inner.in_flight.load(Ordering::Acquire) > 0 {
                self.inner.finished.notified().await;
            }
        }
        drop(results.0);
        let _ = finishing.await;
        Ok(started)
    }

    /// One round over all workspaces, beginning with another one each time.
    async fn round(&self, results: &mpsc::UnboundedSender<Finish>, start_at: usize) -> Result<Round, DbError> {
        let mut workspaces = self.busy_workspaces().await;
        workspaces.extend(store::due_workspaces(self.inner.tools.db.pool(), &workspaces).await?);
        let mut total = Round { is_any: !workspaces.is_empty(), ..Round::default() };
        if workspaces.is_empty() {
            return Ok(total);
        }
        let middle = start_at % workspaces.len();
        workspaces.rotate_left(middle);
        let mut rounds = futures::stream::iter(workspaces.into_iter().map(|workspace| self.dispatch_one(workspace, results)))
            .buffer_unordered(CLAIMS_AT_ONCE);
        // Trouble in one workspace must not break off the others in the middle of a claim.
        let mut trouble = None;
        while let Some(round) = rounds.next().await {
            match round {
                Ok(round) => {
                    total.started += round.started;
                    total.is_more |= round.is_more;
                    total.wake_at = [total.wake_at, round.wake_at].into_iter().flatten().min();
                }
                Err(error) => trouble = Some(error),
            }
        }
        trouble.map_or(Ok(total), Err)
    }

    async fn busy_workspaces(&self) -> Vec<WorkspaceId> {
        let places = self.inner.places.lock().await;
        let mut busy: Vec<WorkspaceId> = places.iter().filter(|(_, place)| place.is_busy()).map(|(id, _)| *id).collect();
        // The first of a round must be another one each time.
        busy.sort_unstable();
        busy
    }

    async fn dispatch_one(&self, workspace: WorkspaceId, results: &mpsc::UnboundedSender<Finish>) -> Result<Round, DbError> {
        let inner = &self.inner;
        let mut round = Round::default();
        // Without it queues are looked at from where they began before, which is slower and not wrong.
        if let Err(error) = self.find_heads(workspace).await {
            tracing::warn!(%error, "dispatcher.find_heads");
        }
        let (in_flight, due) = self.enter(workspace).await;
        round.started += self.start_held(workspace, due, &in_flight, results).await?;
        let free_here = inner.settings.in_flight_per_workspace_max.saturating_sub(in_flight.load(Ordering::Acquire));
        let free = free_here.min(inner.settings.in_flight_max.saturating_sub(inner.in_flight.load(Ordering::Acquire)));
        // A few places are not worth a claim; more are about to be free.
        if free * 4 < inner.settings.in_flight_per_workspace_max {
            round.is_more = true;
            return Ok(round);
        }
        let limit = i32::try_from(free.min(CLAIM_MAX)).unwrap_or(i32::MAX);
        let token = format!("{}-{}", inner.name, inner.claims.fetch_add(1, Ordering::Relaxed));
        // Two transactions: an update of a row that the same transaction has updated would check its foreign keys again.
        let claimed = store::claim_deliveries(inner.tools.db.pool(), workspace, &token, limit).await?;
        failpoint::hit("posting.claimed");
        let now = inner.tools.db.clock().now();
        let held = |(slot, delivery_id): &(Timestamp, Uuid)| Held {
            slot: *slot,
            token: token.clone(),
            delivery_id: *delivery_id,
            tries: 0,
        };
        let (due, ahead): (Vec<Held>, Vec<Held>) = claimed.iter().map(held).partition(|held| held.slot <= now);
        let first_slot = ahead.iter().map(|held| held.slot).min();
        inner.places.lock().await.entry(workspace).or_default().waiting.extend(ahead);
        let started = self.start_held(workspace, due, &in_flight, results).await?;
        round.started += started;
        if round.started > 0 {
            inner.places.lock().await.entry(workspace).or_default().busy_at = Some(Instant::now());
        }
        round.is_more = started > 0;
        round.wake_at = self.next_look(workspace, first_slot, claimed.is_empty()).await?;
        Ok(round)
    }

    /// When there may be something to claim here again.
    async fn next_look(
        &self,
        workspace: WorkspaceId,
        slot: Option<Timestamp>,
        is_empty: bool,
    ) -> Result<Option<Timestamp>, DbError> {
        let due = if is_empty { store::next_due_at(self.inner.tools.db.pool(), workspace).await? } else { None };
        let held =
            self.inner.places.lock().await.get(&workspace).and_then(|place| place.waiting.iter().map(|held| held.slot).min());
        Ok([slot, due, held].into_iter().flatten().min())
    }

    /// Keeps what is known of the beginnings of a workspace's queues no older than a second.
    async fn find_heads(&self, workspace: WorkspaceId) -> Result<(), DbError> {
        {
            let mut places = self.inner.places.lock().await;
            let place = places.entry(workspace).or_default();
            if place.heads_at.is_some_and(|at| at.elapsed() < HEADS_EVERY) {
                return Ok(());
            }
            place.heads_at = Some(Instant::now());
        }
        store::find_heads(self.inner.tools.db.pool(), workspace).await
    }

    /// Starts what was claimed for a slot that has come now.
    async fn start_held(
        &self,
        workspace: WorkspaceId,
        due: Vec<Held>,
        in_flight: &Arc<AtomicUsize>,
        results: &mpsc::UnboundedSender<Finish>,
    ) -> Result<usize, DbError> {
        let mut by_token: HashMap<String, Vec<Held>> = HashMap::new();
        for held in due {
            by_token.entry(held.token.clone()).or_default().push(held);
        }
        let mut started = 0;
        for (token, held) in by_token {
            let ids: Vec<Uuid> = held.iter().map(|held| held.delivery_id).collect();
            let limit = i32::try_from(ids.len()).unwrap_or(i32::MAX);
            // From before the answer: whoever was stopped while waiting for it has had its lease for that long too.
            let started_at = Instant::now();
            let sendings = store::start_sending(self.inner.tools.db.pool(), workspace, &token, limit, &ids).await?;
            started += sendings.len();
            let again_at = self.inner.tools.db.clock().now() + TRY_AGAIN_AFTER;
            let begun: HashSet<Uuid> = sendings.iter().map(|sending| sending.delivery_id).collect();
            let left = held.into_iter().filter(|held| !begun.contains(&held.delivery_id));
            let left =
                left.map(|held| Held { slot: again_at, tries: held.tries + 1, ..held }).filter(|held| held.tries < TRIES_MAX);
            self.inner.places.lock().await.entry(workspace).or_default().waiting.extend(left);
            self.send_all(sendings, started_at, in_flight, results);
        }
        Ok(started)
    }

    /// What this process knows of a workspace, and which of its claims have their slot now.
    async fn enter(&self, workspace: WorkspaceId) -> (Arc<AtomicUsize>, Vec<Held>) {
        let now = self.inner.tools.db.clock().now();
        let mut places = self.inner.places.lock().await;
        let place = places.entry(workspace).or_default();
        let (due, ahead): (Vec<_>, Vec<_>) = std::mem::take(&mut place.waiting).into_iter().partition(|held| held.slot <= now);
        place.waiting = ahead;
        (Arc::clone(&place.in_flight), due)
    }

    fn send_all(
        &self,
        sendings: Vec<Sending>,
        started_at: Instant,
        in_flight: &Arc<AtomicUsize>,
        results: &mpsc::UnboundedSender<Finish>,
    ) {
        for sending in sendings {
            self.inner.in_flight.fetch_add(1, Ordering::AcqRel);
            in_flight.fetch_add(1, Ordering::AcqRel);
            let tools = self.inner.tools.clone();
            let (results, place) = (results.clone(), Arc::clone(in_flight));
            self.inner.tasks.spawn(async move {
                let outcome = send::perform(&tools, &sending, started_at).await;
                // The receiver outlives every task: it ends only when the last sender is gone.
                let _ = results.send(Finish { sending, outcome, place });
            });
        }
    }

    /// A delivery has its end in the database: its places are free.
    fn done(&self, place: &AtomicUsize) {
        place.fetch_sub(1, Ordering::AcqRel);
        self.inner.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.inner.finished.notify_one();
    }

    /// So much is under way that more results are about to come.
    fn is_busy(&self) -> bool {
        self.inner.in_flight.load(Ordering::Acquire) > 64
    }

    fn has_room(&self) -> bool {
        self.inner.in_flight.load(Ordering::Acquire) * 4 <= self.inner.settings.in_flight_max * 3
    }

    fn sleep_for(&self, round: &Round) -> Duration {
        let longest = if round.is_any { LOOK_WHILE_WAITING } else { LOOK_WHILE_IDLE };
        let until =
            round.wake_at.map(|at| Duration::try_from(at.duration_since(self.inner.tools.db.clock().now())).unwrap_or_default());
        // Never in a tight loop: what is due and cannot be claimed (a full parallel gate) is looked at again when something ends.
        until.unwrap_or(longest).clamp(Duration::from_millis(20), longest)
    }
}
