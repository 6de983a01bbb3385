//! What the engine does by itself, shown with an outbox in memory and a clock that runs ahead while all tasks wait.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use kernel::{Clock, WorkspaceId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::*;

/// How the outbox of a test behaves.
#[expect(clippy::struct_excessive_bools, reason = "each is one way to misbehave")]
#[derive(Clone, Copy, Default)]
struct Manners {
    prepare_takes: Duration,
    is_lost: bool,
    panics: bool,
    never_ends: bool,
    /// The first claim of this workspace is never answered.
    deaf: Option<WorkspaceId>,
    /// Claims are for a slot that is an hour ahead.
    is_ahead: bool,
    /// Claims are for a slot that has come, and the first start of any fails.
    start_fails: bool,
    /// The results of this workspace are never recorded.
    stuck: Option<WorkspaceId>,
}

#[derive(Default)]
struct Seen {
    waiting: Vec<(WorkspaceId, Uuid)>,
    deaf_claims: usize,
    starts: usize,
    performed: Vec<Uuid>,
    recorded: Vec<Uuid>,
    released: HashSet<Uuid>,
}

struct Memory {
    db: Db,
    manners: Manners,
    seen: Arc<Mutex<Seen>>,
    under_way: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Memory {
    fn new(manners: Manners, waiting: Vec<(WorkspaceId, Uuid)>) -> Self {
        let db = Db::connect(&crate::Settings::new("postgres://127.0.0.1:1/none"), Clock::system()).unwrap();
        let seen = Arc::new(Mutex::new(Seen { waiting, ..Seen::default() }));
        Self { db, manners, seen, under_way: Arc::default(), most: Arc::default() }
    }
}

impl Outbox for Memory {
    type Effect = (WorkspaceId, Uuid);
    type Prepared = ();
    type Outcome = ();

    const NAME: &'static str = "memory";
    const TOPIC: Topic = Topic::new("memory", Duration::from_millis(10));
    const PACE: Pace = Pace { shortest: Duration::from_millis(5), busy: Duration::from_millis(20), busy_from: 8, claim_max: 64 };
    const LEASE: Duration = Duration::from_mins(1);

    fn db(&self) -> &Db {
        &self.db
    }

    fn effect_id(effect: &Self::Effect) -> Uuid {
        effect.1
    }

    async fn due_workspaces(&self, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
        let mut due: Vec<_> = self.seen.lock().unwrap().waiting.iter().map(|(workspace, _)| *workspace).collect();
        due.sort_unstable();
        due.dedup();
        due.retain(|workspace| !known.contains(workspace));
        Ok(due)
    }

    async fn claim(&self, workspace: WorkspaceId, _token: &str, limit: i32) -> Result<Claimed<Self::Effect>, DbError> {
        if self.manners.deaf == Some(workspace) && std::mem::replace(&mut self.seen.lock().unwrap().deaf_claims, 1) == 0 {
            std::future::pending::<()>().await;
        }
        let mut seen = self.seen.lock().unwrap();
        let (here, elsewhere): (Vec<_>, Vec<_>) = seen.waiting.drain(..).partition(|effect| effect.0 == workspace);
        let (started, left) = here.split_at(here.len().min(usize::try_from(limit).unwrap()));
        seen.waiting = elsewhere.into_iter().chain(left.iter().copied()).collect();
        if self.manners.is_ahead || self.manners.start_fails {
            let slot = Timestamp::now() + SignedDuration::from_hours(i64::from(self.manners.is_ahead));
            return Ok(Claimed { started: Vec::new(), slots: started.iter().map(|effect| (slot, effect.1)).collect() });
        }
        Ok(Claimed { started: started.to_vec(), slots: Vec::new() })
    }

    async fn start(&self, workspace: WorkspaceId, _token: &str, ids: &[Uuid]) -> Result<Vec<Self::Effect>, DbError> {
        let mut seen = self.seen.lock().unwrap();
        seen.starts += 1;
        if seen.starts == 1 {
            return Err(DbError::Unavailable(sqlx::Error::PoolTimedOut));
        }
        Ok(ids.iter().map(|id| (workspace, *id)).collect())
    }

    async fn next_due_at(&self, _workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
        Ok(None)
    }

    async fn is_held(&self, _effect: &Self::Effect) -> Result<bool, DbError> {
        Ok(!self.manners.is_lost)
    }

    async fn prepare(&self, _effect: &Self::Effect) -> Result<(), ()> {
        tokio::time::sleep(self.manners.prepare_takes).await;
        Ok(())
    }

    async fn perform(&self, effect: &Self::Effect, (): ()) -> Option<()> {
        self.seen.lock().unwrap().performed.push(effect.1);
        assert!(!self.manners.panics, "as the test wants it");
        if self.manners.never_ends {
            std::future::pending::<()>().await;
        }
        self.most.fetch_max(self.under_way.fetch_add(1, Ordering::AcqRel) + 1, Ordering::AcqRel);
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.under_way.fetch_sub(1, Ordering::AcqRel);
        Some(())
    }

    async fn record(&self, workspace: WorkspaceId, finished: &[Finished<Self::Effect, ()>]) {
        if self.manners.stuck == Some(workspace) {
            std::future::pending::<()>().await;
        }
        self.seen.lock().unwrap().recorded.extend(finished.iter().map(|finished| finished.effect.1));
    }

    async fn release(&self, _workspace: WorkspaceId, ids: &[Uuid], _tokens: &[String]) -> Result<(), DbError> {
        self.seen.lock().unwrap().released.extend(ids);
        Ok(())
    }
}

fn effects(count: usize) -> (WorkspaceId, Vec<(WorkspaceId, Uuid)>) {
    let workspace = WorkspaceId::from(Uuid::new_v4());
    (workspace, (0..count).map(|_| (workspace, Uuid::new_v4())).collect())
}

/// Drains the outbox; what it saw.
async fn drained(manners: Manners, waiting: Vec<(WorkspaceId, Uuid)>, limits: OutboxLimits) -> (Arc<Mutex<Seen>>, usize) {
    let memory = Memory::new(manners, waiting);
    let (seen, most) = (Arc::clone(&memory.seen), Arc::clone(&memory.most));
    Engine::new(memory, limits).drain().await.unwrap();
    let most = most.load(Ordering::Acquire);
    (seen, most)
}

#[tokio::test(start_paused = true)]
async fn everything_that_is_due_is_performed_once_and_recorded() {
    let (_, waiting) = effects(200);
    let (seen, _) = drained(Manners::default(), waiting.clone(), OutboxLimits::of(64)).await;
    let seen = seen.lock().unwrap();
    let all: HashSet<Uuid> = waiting.iter().map(|effect| effect.1).collect();
    assert_eq!((seen.performed.len(), seen.recorded.len()), (200, 200));
    assert_eq!(seen.recorded.iter().copied().collect::<HashSet<_>>(), all);
}

#[tokio::test(start_paused = true)]
async fn one_workspace_takes_no_more_than_its_share_of_the_places() {
    let (_, waiting) = effects(200);
    let (_, most) =
        drained(Manners::default(), waiting, OutboxLimits { in_flight_max: 64, in_flight_per_workspace_max: 16 }).await;
    assert!(most <= 16, "{most} at once");
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_panics_frees_its_place_and_has_no_result() {
    let (_, waiting) = effects(40);
    let (seen, _) = drained(Manners { panics: true, ..Manners::default() }, waiting, OutboxLimits::of(8)).await;
    let seen = seen.lock().unwrap();
    assert_eq!((seen.performed.len(), seen.recorded.len()), (40, 0));
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_stopped_does_not_perform_what_it_no_longer_holds() {
    for (takes, is_lost, performed) in [(1, true, 1), (3, false, 1), (3, true, 0), (31, false, 0)] {
        let manners = Manners { prepare_takes: Duration::from_secs(takes), is_lost, ..Manners::default() };
        let (seen, _) = drained(manners, effects(1).1, OutboxLimits::of(8)).await;
        assert_eq!(seen.lock().unwrap().performed.len(), performed, "{takes} s, lost: {is_lost}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_is_never_answered_keeps_other_workspaces_waiting_for_a_minute_at_most() {
    let ((deaf, first), (_, second)) = (effects(1), effects(1));
    let manners = Manners { deaf: Some(deaf), ..Manners::default() };
    let memory = Memory::new(manners, [first, second].concat());
    let (seen, stop) = (Arc::clone(&memory.seen), CancellationToken::new());
    let running = tokio::spawn(Engine::new(memory, OutboxLimits::of(8)).run(stop.clone()));
    let started = Instant::now();
    while seen.lock().unwrap().recorded.len() < 2 {
        assert!(started.elapsed() < Duration::from_secs(70), "blocked");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_visit_of_one_workspace_keeps_the_others_waiting_for_two_seconds_and_comes_to_its_own_end() {
    let ((deaf, first), (other, second)) = (effects(1), effects(1));
    let memory = Memory::new(Manners { deaf: Some(deaf), ..Manners::default() }, [first.clone(), second].concat());
    let (seen, stop) = (Arc::clone(&memory.seen), CancellationToken::new());
    let running = tokio::spawn(Engine::new(memory, OutboxLimits::of(8)).run(stop.clone()));
    let until_recorded = async |count: usize, patience: Duration| {
        let started = Instant::now();
        while seen.lock().unwrap().recorded.len() < count {
            assert!(started.elapsed() < patience, "{count}: held back");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    until_recorded(1, Duration::from_secs(1)).await;
    for count in 2..10 {
        seen.lock().unwrap().waiting.push((other, Uuid::new_v4()));
        until_recorded(count, Duration::from_secs(4)).await;
    }
    // Its answer is given up after a minute, and the next visit finds what is still there.
    until_recorded(10, Duration::from_secs(65)).await;
    assert!(seen.lock().unwrap().recorded.contains(&first[0].1));
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_workspace_whose_results_cannot_be_recorded_holds_back_no_result_of_another() {
    let ((stuck, first), (_, second)) = (effects(4), effects(4));
    let manners = Manners { stuck: Some(stuck), ..Manners::default() };
    let memory = Memory::new(manners, [first, second.clone()].concat());
    let (seen, stop) = (Arc::clone(&memory.seen), CancellationToken::new());
    let running = tokio::spawn(Engine::new(memory, OutboxLimits::of(16)).run(stop.clone()));
    let started = Instant::now();
    while seen.lock().unwrap().recorded.len() < second.len() {
        assert!(started.elapsed() < Duration::from_secs(5), "held back");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn claims_whose_start_failed_are_started_again_and_not_forgotten() {
    let (_, waiting) = effects(8);
    let manners = Manners { start_fails: true, ..Manners::default() };
    let memory = Memory::new(manners, waiting);
    let (seen, stop) = (Arc::clone(&memory.seen), CancellationToken::new());
    let running = tokio::spawn(Engine::new(memory, OutboxLimits::of(64)).run(stop.clone()));
    let started = Instant::now();
    while seen.lock().unwrap().recorded.len() < 8 {
        assert!(started.elapsed() < Duration::from_secs(10), "forgotten");
        // The slots are by the clock of the machine, which runs while this one is paused.
        std::thread::sleep(Duration::from_millis(5));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_an_effect_without_end_no_longer_than_two_minutes() {
    let memory = Memory::new(Manners { never_ends: true, ..Manners::default() }, effects(1).1);
    let (seen, stop) = (Arc::clone(&memory.seen), CancellationToken::new());
    let running = tokio::spawn(Engine::new(memory, OutboxLimits::of(8)).run(stop.clone()));
    while seen.lock().unwrap().performed.is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(125), running).await.expect("it ends").unwrap();
}

#[tokio::test(start_paused = true)]
async fn claims_for_a_slot_that_is_ahead_are_released_when_the_worker_stops() {
    let (_, waiting) = effects(3);
    let memory = Memory::new(Manners { is_ahead: true, ..Manners::default() }, waiting.clone());
    let (seen, stop) = (Arc::clone(&memory.seen), CancellationToken::new());
    let running = tokio::spawn(Engine::new(memory, OutboxLimits::of(8)).run(stop.clone()));
    while !seen.lock().unwrap().waiting.is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // The claim is answered in the same instant, and its slots are held then.
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.cancel();
    running.await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.released, waiting.iter().map(|effect| effect.1).collect());
    assert!(seen.performed.is_empty());
}
