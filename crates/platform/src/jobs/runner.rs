//! Runs jobs: one claimer, many handlers, one finisher, and a heartbeat.
//!
//! Both ends work in batches: while handlers run, the claimer fetches the next batch in one statement, and the
//! finisher ends whatever has finished since its last commit. No connection is held while a handler runs.

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use kernel::{Clock, NextTry, redact};
use serde_json::json;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Job, JobError, JobType, Registry,
    handler::JobHandler,
    lanes::JobLanes,
    store::{self, After, JobFailure, Lease, WantedJobs},
};
use crate::{
    Db, DbError,
    db::{ANSWER_MAX, within},
    wake::Topic,
};

/// How many jobs of a type a process holds beyond those that run, so that handlers never wait for a claim.
/// A crash strands what is held until its leases run out, so it is a small multiple.
const HELD_PER_RUNNING: usize = 8;
/// How many finished jobs one commit ends at most.
const FINISH_MAX: usize = 1000;
/// A finisher that has much to do waits this long for more, so that one commit ends many.
const GATHER: Duration = Duration::from_millis(10);
const GATHER_FROM: usize = 16;
/// How often a busy runner looks from the beginning: for leases that ran out and jobs that were given back.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// A sleeping runner looks by itself this often, for jobs that were enqueued without a wake-up.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long running jobs may go on after a stop was asked for.
const GRACE: Duration = Duration::from_secs(10);
const ERROR_CHARS_MAX: usize = 2000;
/// Whatever a provider asks for, nobody waits longer than this for the next attempt.
const RETRY_MAX: Duration = Duration::from_hours(30 * 24);

pub struct Runner {
    db: Db,
    worker_id: String,
    types: Arc<HashMap<&'static str, Running>>,
    names: Vec<&'static str>,
    shared: Arc<Shared>,
}

struct Running {
    job_type: JobType,
    handler: JobHandler,
    slots: Semaphore,
    held: AtomicUsize,
}

impl Running {
    fn held_max(&self) -> usize {
        self.job_type.concurrency * HELD_PER_RUNNING
    }

    /// One job less is waiting or running; tells the claimer when half of them are gone.
    fn let_go(&self, shared: &Shared) {
        if self.held.fetch_sub(1, Ordering::AcqRel) == self.held_max() / 2 + 1 {
            shared.room.notify_one();
        }
    }
}

#[derive(Default)]
struct Shared {
    /// Every job that this process holds a lease on, for the heartbeat.
    leases: Mutex<HashSet<(&'static str, Lease)>>,
    /// Rung when jobs have ended and the claimer may hold more.
    room: Notify,
}

impl Shared {
    fn held(&self) -> Vec<Lease> {
        let leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        leases.iter().map(|(_, lease)| *lease).collect()
    }

    /// Attempts whose end is stored need no heartbeat any more.
    fn forget(&self, ended: impl Iterator<Item = (&'static str, Lease)>) {
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, lease) in ended {
            leases.remove(&(name, lease));
        }
    }
}

/// What a runner did until nothing was due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Drained {
    pub picked: usize,
    pub succeeded: usize,
    pub failed: usize,
}

#[derive(Clone)]
pub(super) enum EndedJob {
    Succeeded(Lease),
    Failed(JobFailure),
    /// Claimed, but never started.
    Released(Lease),
}

impl EndedJob {
    fn lease(&self) -> Lease {
        match self {
            Self::Succeeded(lease) | Self::Released(lease) => *lease,
            Self::Failed(failure) => failure.lease,
        }
    }
}

/// How an attempt at a job of this type ended.
type End = (&'static str, EndedJob);

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
            within(ANSWER_MAX, store::register_job_type(self.db.pool(), &self.types[name].job_type)).await?;
        }
        Ok(())
    }

    /// Works until told to stop, then gives back what it has not started.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            let registered = tokio::select! {
                registered = self.register() => registered,
                () = stop.cancelled() => return,
            };
            let Err(error) = registered else { break };
            tracing::warn!(%error, "jobs.register");
            if sleep_or_stop(Duration::from_millis(500), &stop).await {
                return;
            }
        }
        let (ended_tx, ended_rx) = mpsc::unbounded_channel();
        let abort = CancellationToken::new();
        let finisher = tokio::spawn(finish(self.db.clone(), Arc::clone(&self.shared), ended_rx));
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
                self.names.iter().map(|name| WantedJobs { job_type: name, limit: 100, after: After::START }).collect();
            let jobs = store::claim_jobs(self.db.pool(), &self.worker_id, &wanted).await?;
            if jobs.is_empty() {
                return Ok(drained);
            }
            drained.picked += jobs.len();
            let runs = jobs.into_iter().map(|job| {
                let running = &self.types[&*job.job_type];
                run_one(&running.job_type, &running.handler, job, self.db.clock())
            });
            let ended = futures::future::join_all(runs).await;
            let (mut completed, mut failed) = (Vec::new(), Vec::new());
            for end in ended {
                match end {
                    EndedJob::Succeeded(lease) | EndedJob::Released(lease) => completed.push(lease),
                    EndedJob::Failed(failure) => failed.push(failure),
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
        ended: &mpsc::UnboundedSender<End>,
    ) {
        let mut news = self.db.wake().subscribe(Topic::JOBS);
        let mut lanes = JobLanes::new(&self.names);
        while !stop.is_cancelled() {
            // Armed before looking, so that what comes in between is not slept over.
            if news.has_changed().unwrap_or(false) {
                news.mark_unchanged();
                lanes.wake();
            }
            let wanted = self.wanted(&lanes);
            let worked = async {
                if lanes.is_sweep_due() {
                    self.sweep(&mut lanes).await?;
                }
                if wanted.is_empty() { Ok(Vec::new()) } else { self.claim(&wanted, &mut lanes).await }
            };
            let looked = match within(ANSWER_MAX, worked).await {
                Ok(jobs) => {
                    let empty = empty_of(&wanted, &jobs);
                    // Before anything else is asked: what is claimed and not started would be held for ever, and never run.
                    for job in jobs {
                        self.start(job, stop, abort, tasks, ended);
                    }
                    within(ANSWER_MAX, self.rest(&empty, &mut lanes)).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = looked {
                tracing::warn!(%error, "jobs.claim");
                sleep_or_stop(Duration::from_millis(500), stop).await;
            }
            if self.wanted(&lanes).is_empty() {
                tokio::select! {
                    () = tokio::time::sleep_until(lanes.next_look()) => {}
                    () = self.shared.room.notified() => {}
                    _ = news.changed() => lanes.wake(),
                    () = stop.cancelled() => {}
                }
            }
        }
    }

    /// How many of each type to ask for: only types that may have something, and enough room to make a claim worth
    /// its commit.
    fn wanted(&self, lanes: &JobLanes) -> Vec<WantedJobs> {
        let room = |name: &&'static str| {
            let running = &self.types[*name];
            let held = running.held.load(Ordering::Acquire);
            let limit = running.held_max().saturating_sub(held);
            let has_room = held <= running.held_max() / 2;
            (has_room && !lanes.is_idle(name)).then(|| WantedJobs { job_type: name, limit, after: lanes.after(name) })
        };
        self.names.iter().filter_map(room).collect()
    }

    async fn claim(&self, wanted: &[WantedJobs], lanes: &mut JobLanes) -> Result<Vec<Job>, DbError> {
        let jobs = store::claim_jobs(self.db.pool(), &self.worker_id, wanted).await?;
        metrics::counter!("beresta_jobs_claimed_total").increment(jobs.len() as u64);
        {
            let mut leases = self.shared.leases.lock().unwrap_or_else(PoisonError::into_inner);
            for job in &jobs {
                let running = &self.types[&*job.job_type];
                leases.insert((running.job_type.name, job.into()));
                running.held.fetch_add(1, Ordering::AcqRel);
                lanes.advance(running.job_type.name, After::job(job));
            }
        }
        Ok(jobs)
    }

    /// For types that had nothing after the place they had come to: from the beginning there may be something. If not, they sleep.
    async fn rest(&self, empty: &[&'static str], lanes: &mut JobLanes) -> Result<(), DbError> {
        for name in empty {
            if !lanes.rewind(name) {
                lanes.sleep(name, self.until_due(name).await?);
            }
        }
        Ok(())
    }

    /// Looks after what nobody else does: leases that ran out, schedules that are due, jobs that were given back.
    async fn sweep(&self, lanes: &mut JobLanes) -> Result<(), DbError> {
        let held = self.shared.held();
        if !held.is_empty() {
            // Our own first: the database may have been away for longer than a lease.
            store::extend_leases(self.db.pool(), &held).await?;
        }
        let expired = store::expire_leases(self.db.pool(), &self.names).await?;
        let fired = store::fire_schedules(self.db.pool()).await?;
        let every = if held.is_empty() { jittered(LOOK_EVERY) } else { SWEEP_EVERY };
        lanes.swept(every, expired > 0 || fired > 0);
        Ok(())
    }

    /// How long there will be nothing for a type, as far as the database knows; at most until the next look.
    async fn until_due(&self, name: &'static str) -> Result<Duration, DbError> {
        let look = jittered(LOOK_EVERY);
        let Some(due) = store::next_due_at(self.db.pool(), &[name]).await? else { return Ok(look) };
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
        ended: &mpsc::UnboundedSender<End>,
    ) {
        let types = Arc::clone(&self.types);
        let shared = Arc::clone(&self.shared);
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
                None => EndedJob::Released(lease),
                Some(_slot) => tokio::select! {
                    end = run_one(&running.job_type, &running.handler, job, &clock) => end,
                    () = abort.cancelled() => EndedJob::Failed(JobFailure {
                        lease,
                        error: error_json("interrupted", "the process stopped before this attempt had finished"),
                        retry_in: Some(Duration::ZERO),
                    }),
                },
            };
            let _ = ended.send((running.job_type.name, end));
            running.let_go(&shared);
        });
    }

    fn beat_every(&self) -> Duration {
        let shortest = self.types.values().map(|running| running.job_type.lease).min();
        shortest.unwrap_or(Duration::from_mins(1)) / 3
    }
}

/// The types that were asked for and had nothing.
fn empty_of(wanted: &[WantedJobs], jobs: &[Job]) -> Vec<&'static str> {
    wanted.iter().map(|wanted| wanted.job_type).filter(|name| !jobs.iter().any(|job| job.job_type == *name)).collect()
}

pub(super) async fn run_one(job_type: &JobType, handler: &JobHandler, job: Job, clock: &Clock) -> EndedJob {
    let lease = Lease::from(&job);
    let (attempts, created_at) = (job.attempt - job.forgiven, job.created_at);
    // Inside the net from its first line on: a handler may panic before it ever waits.
    let work = AssertUnwindSafe(async { handler(job).await }).catch_unwind();
    let error = match tokio::time::timeout(job_type.timeout, work).await {
        Ok(Ok(Ok(()))) => return EndedJob::Succeeded(lease),
        Ok(Ok(Err(error))) => error,
        Ok(Err(_panic)) => JobError::retry("the handler of this job panicked; the server's log says where"),
        Err(_elapsed) => JobError::retry(format!("the attempt took longer than {:?}", job_type.timeout)),
    };
    let age = Duration::try_from(clock.now().duration_since(created_at)).unwrap_or_default();
    let next = job_type.policy.next(attempts, age, error.retry_after, rand::random());
    let retry_in = match next {
        NextTry::RetryIn(wait) if !error.is_final => Some(wait.min(RETRY_MAX)),
        _ => None,
    };
    EndedJob::Failed(JobFailure { lease, error: error_json("handler", &error.message), retry_in })
}

fn error_json(code: &str, message: &str) -> serde_json::Value {
    // PostgreSQL cannot store NUL, and whatever a provider answered may end up here.
    json!({"code": code, "message": redact::snippet(&message.replace('\0', "\u{fffd}"), ERROR_CHARS_MAX)})
}

/// Ends jobs in batches: whatever has come in while the last commit was on its way.
async fn finish(db: Db, shared: Arc<Shared>, mut ended: mpsc::UnboundedReceiver<End>) {
    let mut batch = Vec::with_capacity(FINISH_MAX);
    while ended.recv_many(&mut batch, FINISH_MAX).await > 0 {
        let ends: Vec<EndedJob> = batch.iter().map(|(_, end)| end.clone()).collect();
        if end_until_done(&db, &ends).await.is_err() {
            // Something in it cannot be stored: the others must not pay for it.
            for end in ends {
                if let Err(error) = end_until_done(&db, &[end]).await {
                    tracing::error!(%error, "jobs.finish");
                }
            }
        }
        let is_busy = batch.len() >= GATHER_FROM;
        shared.forget(batch.drain(..).map(|(name, end)| (name, end.lease())));
        if is_busy && ended.len() < FINISH_MAX {
            tokio::time::sleep(GATHER).await;
        }
    }
}

/// Ends a batch, waiting for a database that is away. Ending twice is harmless, because only the lease that runs a
/// job can end it.
pub(super) async fn end_until_done(db: &Db, batch: &[EndedJob]) -> Result<(), DbError> {
    let mut pause = Duration::from_millis(50);
    loop {
        match within(ANSWER_MAX, end_batch(db, batch)).await {
            Err(error) if error.is_retryable() => tracing::warn!(%error, jobs = batch.len(), "jobs.finish"),
            result => return result,
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

async fn end_batch(db: &Db, batch: &[EndedJob]) -> Result<(), DbError> {
    let (mut succeeded, mut failed, mut released) = (Vec::new(), Vec::new(), Vec::new());
    for end in batch {
        match end {
            EndedJob::Succeeded(lease) => succeeded.push(*lease),
            EndedJob::Failed(failure) => failed.push(failure.clone()),
            EndedJob::Released(lease) => released.push(*lease),
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
    // A claim is published too, but without a wake-up: pages see it within the time between two looks of the bus reader.
    db.wake().tell(Topic::BUS);
    if !failed.is_empty() || !released.is_empty() {
        // They are due again sooner than the sleepers knew.
        db.wake().tell(Topic::JOBS);
    }
    Ok(())
}

async fn heartbeat(db: Db, every: Duration, shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(every).await;
        let leases = shared.held();
        if leases.is_empty() {
            continue;
        }
        match within(ANSWER_MAX, store::extend_leases(db.pool(), &leases)).await {
            Ok(kept) if kept.len() < leases.len() => {
                // Some ended in this very moment; the finisher tells the rest.
                tracing::debug!(lost = leases.len() - kept.len(), "jobs.heartbeat");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "jobs.heartbeat"),
        }
    }
}

/// Pollers of several processes must not march in step.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(1.0 + rand::random::<f64>() / 5.0)
}

async fn sleep_or_stop(wait: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = tokio::time::sleep(wait) => false,
        () = stop.cancelled() => true,
    }
}
