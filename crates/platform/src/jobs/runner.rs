//! Runs jobs: one claimer, many handlers, one finisher, and a heartbeat.
//!
//! Both ends work in batches: while handlers run, the claimer fetches the next batch in one statement, and the
//! finisher ends whatever has finished since its last commit. No connection is held while a handler runs.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use kernel::{Clock, Next, redact};
use serde_json::json;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Job, JobError, JobType, Registry,
    handler::Handler,
    store::{self, After, Failure, Lease, Wanted},
};
use crate::{Db, DbError, wake::Topic};

/// How many jobs of a type a process holds beyond those that run, so that handlers never wait for a claim.
/// A crash strands what is held until its leases run out, so it is a small multiple.
const HELD_PER_RUNNING: usize = 8;
/// How many finished jobs one commit ends at most.
const FINISH_MAX: usize = 1000;
/// A finisher that has much to do waits this long for more, so that one commit ends many.
const GATHER: Duration = Duration::from_millis(4);
const GATHER_FROM: usize = 16;
/// How often a busy runner looks from the beginning: for leases that ran out and jobs that were given back.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// A sleeping runner looks by itself this often, for jobs that were enqueued without a wake-up.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long running jobs may go on after a stop was asked for.
const GRACE: Duration = Duration::from_secs(10);
const ERROR_CHARS_MAX: usize = 2000;

pub struct Runner {
    db: Db,
    worker_id: String,
    types: Arc<HashMap<&'static str, Running>>,
    names: Vec<&'static str>,
    shared: Arc<Shared>,
}

struct Running {
    job_type: JobType,
    handler: Handler,
    slots: Semaphore,
    held: AtomicUsize,
}

#[derive(Default)]
struct Shared {
    /// Every job that this process holds a lease on, for the heartbeat.
    leases: Mutex<HashMap<i64, (&'static str, Lease)>>,
    /// Rung when jobs have ended and the claimer may hold more.
    room: Notify,
}

impl Shared {
    /// Lets go of jobs that have ended.
    fn forget(&self, types: &HashMap<&'static str, Running>, ended: impl Iterator<Item = Lease>) {
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        for lease in ended {
            if let Some((name, _)) = leases.remove(&lease.id) {
                types[name].held.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }
}

/// What a runner did until nothing was due: the answer of WF90.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Drained {
    pub picked: usize,
    pub succeeded: usize,
    pub failed: usize,
}

enum Ended {
    Succeeded(Lease),
    Failed(Failure),
    /// Claimed, but never started.
    Released(Lease),
}

impl Ended {
    fn lease(&self) -> Lease {
        match self {
            Self::Succeeded(lease) | Self::Released(lease) => *lease,
            Self::Failed(failure) => failure.lease,
        }
    }
}

impl Runner {
    pub fn new(db: Db, registry: Registry, worker_id: impl Into<String>) -> Self {
        let names = registry.names();
        let types = registry.types.into_iter().map(|(name, (job_type, handler))| {
            let slots = Semaphore::new(job_type.concurrency);
            (name, Running { job_type, handler, slots, held: AtomicUsize::new(0) })
        });
        Self { db, worker_id: worker_id.into(), types: Arc::new(types.collect()), names, shared: Arc::default() }
    }

    /// Makes the types of this runner known to the database, so that they can be enqueued.
    pub async fn register(&self) -> Result<(), DbError> {
        for name in &self.names {
            store::register_job_type(self.db.pool(), &self.types[name].job_type).await?;
        }
        Ok(())
    }

    /// Works until told to stop, then gives back what it has not started.
    pub async fn run(self, stop: CancellationToken) {
        while let Err(error) = self.register().await {
            tracing::warn!(%error, "jobs.register");
            if sleep_or_stop(Duration::from_millis(500), &stop).await {
                return;
            }
        }
        let (ended_tx, ended_rx) = mpsc::unbounded_channel();
        let abort = CancellationToken::new();
        let finisher = tokio::spawn(finish(self.db.clone(), Arc::clone(&self.types), Arc::clone(&self.shared), ended_rx));
        let heartbeat = tokio::spawn(heartbeat(self.db.clone(), self.beat_every(), Arc::clone(&self.shared)));
        let tasks = TaskTracker::new();

        self.claim_until_stopped(&stop, &abort, &tasks, &ended_tx).await;

        tasks.close();
        if tokio::time::timeout(GRACE, tasks.wait()).await.is_err() {
            abort.cancel();
            tasks.wait().await;
        }
        drop(ended_tx);
        let _ = tokio::time::timeout(GRACE, finisher).await;
        heartbeat.abort();
    }

    /// Runs everything that is due, and what that made due, and returns when nothing is: how tests run workers.
    pub async fn drain(&self) -> Result<Drained, DbError> {
        self.register().await?;
        let mut drained = Drained::default();
        loop {
            store::fire_schedules(self.db.pool()).await?;
            store::expire_leases(self.db.pool(), &self.names).await?;
            let wanted: Vec<_> =
                self.names.iter().map(|name| Wanted { job_type: name, limit: 100, after: After::START }).collect();
            let jobs = store::claim_jobs(self.db.pool(), &self.worker_id, &wanted).await?;
            if jobs.is_empty() {
                return Ok(drained);
            }
            drained.picked += jobs.len();
            let runs = jobs.into_iter().map(|job| run_one(&self.types[&*job.job_type], job, self.db.clock()));
            let ended = futures::future::join_all(runs).await;
            let (mut completed, mut failed) = (Vec::new(), Vec::new());
            for end in ended {
                match end {
                    Ended::Succeeded(lease) | Ended::Released(lease) => completed.push(lease),
                    Ended::Failed(failure) => failed.push(failure),
                }
            }
            drained.succeeded += store::complete_jobs(self.db.pool(), &completed).await?.len();
            drained.failed += store::fail_jobs(self.db.pool(), &failed).await?.len();
        }
    }

    async fn claim_until_stopped(
        &self,
        stop: &CancellationToken,
        abort: &CancellationToken,
        tasks: &TaskTracker,
        ended: &mpsc::UnboundedSender<Ended>,
    ) {
        let mut news = self.db.wake().subscribe(Topic::Jobs);
        let mut place = Place::default();
        while !stop.is_cancelled() {
            // Armed before looking, so that what comes in between is not slept over.
            news.mark_unchanged();
            let wanted = self.wanted(&place);
            let claimed = if wanted.is_empty() { Ok(Vec::new()) } else { self.claim(&wanted, &mut place).await };
            match claimed {
                // Nothing after the place, but perhaps something before it.
                Ok(jobs) if jobs.is_empty() && !wanted.is_empty() && place.leave() => {}
                Ok(jobs) if jobs.is_empty() => self.sleep(stop, &mut news, wanted.is_empty()).await,
                Ok(jobs) => {
                    for job in jobs {
                        self.start(job, stop, abort, tasks, ended);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "jobs.claim");
                    sleep_or_stop(Duration::from_millis(500), stop).await;
                }
            }
        }
    }

    /// How many of each type to ask for: only types with enough room to make a claim worth its commit.
    fn wanted(&self, place: &Place) -> Vec<Wanted> {
        let room = |name: &&'static str| {
            let running = &self.types[*name];
            let held = running.held.load(Ordering::Acquire);
            let held_max = running.job_type.concurrency * HELD_PER_RUNNING;
            let limit = held_max.saturating_sub(held);
            (held == 0 || limit >= held_max / 2).then(|| Wanted { job_type: name, limit, after: place.after(name) })
        };
        self.names.iter().filter_map(room).filter(|wanted| wanted.limit > 0).collect()
    }

    async fn claim(&self, wanted: &[Wanted], place: &mut Place) -> Result<Vec<Job>, DbError> {
        if place.is_at_start() {
            store::expire_leases(self.db.pool(), &self.names).await?;
        }
        let jobs = store::claim_jobs(self.db.pool(), &self.worker_id, wanted).await?;
        metrics::counter!("beresta_jobs_claimed_total").increment(jobs.len() as u64);
        let mut leases = self.shared.leases.lock().unwrap_or_else(PoisonError::into_inner);
        for job in &jobs {
            let running = &self.types[&*job.job_type];
            leases.insert(job.id, (running.job_type.name, job.into()));
            running.held.fetch_add(1, Ordering::AcqRel);
            place.advance(running.job_type.name, After::job(job));
        }
        drop(leases);
        Ok(jobs)
    }

    /// Sleeps until there is room, news, something due, or it is time to look. Nothing of this asks an idle
    /// database more than once per LOOK_EVERY.
    async fn sleep(&self, stop: &CancellationToken, news: &mut tokio::sync::watch::Receiver<u64>, is_full: bool) {
        if is_full {
            tokio::select! {
                () = self.shared.room.notified() => {}
                () = stop.cancelled() => {}
            }
            return;
        }
        let wait = self.until_due().await.unwrap_or(LOOK_EVERY);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = news.changed() => {}
            () = stop.cancelled() => {}
        }
    }

    async fn until_due(&self) -> Result<Duration, DbError> {
        if store::fire_schedules(self.db.pool()).await? > 0 {
            return Ok(Duration::ZERO);
        }
        // Pollers of several processes must not march in step.
        let look = LOOK_EVERY.mul_f64(1.0 + rand::random::<f64>() / 5.0);
        let Some(due) = store::next_due_at(self.db.pool(), &self.names).await? else { return Ok(look) };
        let wait = due.duration_since(self.db.clock().now());
        // A due time in the past is one that another process is claiming right now.
        Ok(Duration::try_from(wait).unwrap_or_default().clamp(Duration::from_millis(20), look))
    }

    fn start(
        &self,
        job: Job,
        stop: &CancellationToken,
        abort: &CancellationToken,
        tasks: &TaskTracker,
        ended: &mpsc::UnboundedSender<Ended>,
    ) {
        let types = Arc::clone(&self.types);
        let (stop, abort, ended, clock) = (stop.clone(), abort.clone(), ended.clone(), self.db.clock().clone());
        tasks.spawn(async move {
            let running = &types[&*job.job_type];
            let lease = Lease::from(&job);
            let slot = tokio::select! {
                biased;
                () = stop.cancelled() => None,
                slot = running.slots.acquire() => slot.ok(),
            };
            let end = match slot {
                None => Ended::Released(lease),
                Some(_slot) => tokio::select! {
                    end = run_one(running, job, &clock) => end,
                    () = abort.cancelled() => Ended::Failed(Failure {
                        lease,
                        error: error_json("interrupted", "the process stopped before this attempt had finished"),
                        retry_in: Some(Duration::ZERO),
                    }),
                },
            };
            let _ = ended.send(end);
        });
    }

    fn beat_every(&self) -> Duration {
        let shortest = self.types.values().map(|running| running.job_type.lease).min();
        shortest.unwrap_or(Duration::from_mins(1)) / 3
    }
}

/// How far the claimer has come in each type. It begins anew once in a while, and whenever it finds nothing.
struct Place {
    after: HashMap<&'static str, After>,
    begun: tokio::time::Instant,
}

impl Default for Place {
    fn default() -> Self {
        Self { after: HashMap::new(), begun: tokio::time::Instant::now() }
    }
}

impl Place {
    fn is_at_start(&self) -> bool {
        self.after.is_empty() || self.begun.elapsed() >= SWEEP_EVERY
    }

    fn after(&self, name: &str) -> After {
        if self.is_at_start() { After::START } else { self.after.get(name).copied().unwrap_or(After::START) }
    }

    fn advance(&mut self, name: &'static str, to: After) {
        if self.is_at_start() {
            *self = Self::default();
        }
        let after = self.after.entry(name).or_insert(to);
        *after = to.max(*after);
    }

    /// Back to the beginning; says whether that is somewhere else.
    fn leave(&mut self) -> bool {
        let was_elsewhere = !self.is_at_start();
        *self = Self::default();
        was_elsewhere
    }
}

async fn run_one(running: &Running, job: Job, clock: &Clock) -> Ended {
    let lease = Lease::from(&job);
    let (attempts, created_at) = (job.attempt - job.forgiven, job.created_at);
    let work = AssertUnwindSafe((running.handler)(job)).catch_unwind();
    let error = match tokio::time::timeout(running.job_type.timeout, work).await {
        Ok(Ok(Ok(()))) => return Ended::Succeeded(lease),
        Ok(Ok(Err(error))) => error,
        Ok(Err(_panic)) => JobError::retry("the handler of this job panicked; the server's log says where"),
        Err(_elapsed) => JobError::retry(format!("the attempt took longer than {:?}", running.job_type.timeout)),
    };
    let age = Duration::try_from(clock.now().duration_since(created_at)).unwrap_or_default();
    let next = running.job_type.policy.next(attempts, age, error.retry_after, rand::random());
    let retry_in = match next {
        Next::RetryIn(wait) if !error.is_final => Some(wait),
        _ => None,
    };
    Ended::Failed(Failure { lease, error: error_json("handler", &error.message), retry_in })
}

fn error_json(code: &str, message: &str) -> serde_json::Value {
    json!({"code": code, "message": redact::snippet(message, ERROR_CHARS_MAX)})
}

/// Ends jobs in batches: whatever has come in while the last commit was on its way.
async fn finish(
    db: Db,
    types: Arc<HashMap<&'static str, Running>>,
    shared: Arc<Shared>,
    mut ended: mpsc::UnboundedReceiver<Ended>,
) {
    let mut batch = Vec::with_capacity(FINISH_MAX);
    while ended.recv_many(&mut batch, FINISH_MAX).await > 0 {
        let mut pause = Duration::from_millis(50);
        while let Err(error) = end_batch(&db, &batch).await {
            // Ending twice is harmless, because only the lease that runs a job can end it.
            tracing::warn!(%error, jobs = batch.len(), "jobs.finish");
            if !error.is_retryable() {
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(2));
        }
        let is_busy = batch.len() >= GATHER_FROM;
        shared.forget(&types, batch.drain(..).map(|end| end.lease()));
        shared.room.notify_one();
        if is_busy && ended.len() < FINISH_MAX {
            tokio::time::sleep(GATHER).await;
        }
    }
}

async fn end_batch(db: &Db, batch: &[Ended]) -> Result<(), DbError> {
    let (mut succeeded, mut failed, mut released) = (Vec::new(), Vec::new(), Vec::new());
    for end in batch {
        match end {
            Ended::Succeeded(lease) => succeeded.push(*lease),
            Ended::Failed(failure) => failed.push(failure.clone()),
            Ended::Released(lease) => released.push(*lease),
        }
    }
    if !succeeded.is_empty() {
        let done = store::complete_jobs(db.pool(), &succeeded).await?.len();
        metrics::counter!("beresta_jobs_succeeded_total").increment(done as u64);
        if done < succeeded.len() {
            tracing::warn!(lost = succeeded.len() - done, "jobs.lease_lost");
        }
    }
    if !failed.is_empty() {
        let done = store::fail_jobs(db.pool(), &failed).await?.len();
        metrics::counter!("beresta_jobs_failed_total").increment(done as u64);
    }
    if !released.is_empty() {
        store::release_jobs(db.pool(), &released).await?;
    }
    if !failed.is_empty() || !released.is_empty() {
        // They are due again sooner than the sleepers knew.
        db.wake().tell(Topic::Jobs);
    }
    Ok(())
}

async fn heartbeat(db: Db, every: Duration, shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(every).await;
        let leases: Vec<Lease> = {
            let held = shared.leases.lock().unwrap_or_else(PoisonError::into_inner);
            held.values().map(|(_, lease)| *lease).collect()
        };
        if leases.is_empty() {
            continue;
        }
        match store::extend_leases(db.pool(), &leases).await {
            Ok(kept) if kept.len() < leases.len() => {
                // Some ended in this very moment; the finisher tells the rest.
                tracing::debug!(lost = leases.len() - kept.len(), "jobs.heartbeat");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "jobs.heartbeat"),
        }
    }
}

async fn sleep_or_stop(wait: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = tokio::time::sleep(wait) => false,
        () = stop.cancelled() => true,
    }
}
