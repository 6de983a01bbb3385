//! `cargo xtask chaos posting`: several dispatchers on one database, everything that can be killed is killed, and a checker with
//! ledgers of its own says what became of the posts. `chaos shopbot` and `chaos knowledge` are the same harness around other modules.

mod channels;
mod check;
mod crew;
mod evidence;
mod limits;
mod log;
mod options;
mod plant;
mod posting;
mod pusher;
mod random;
mod report;
mod stage;
mod subject;
mod trouble;

pub(crate) mod knowledge;
pub(crate) mod shopbot;

#[cfg(test)]
mod tests;

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::Args;
use tokio::task::JoinHandle;

use check::{Broken, ChaosVerdict};
use crew::{Part, kill_9};
use evidence::Evidence;
use options::ChaosOptions;
use pusher::Pushed;
use report::Facts;
use stage::{Stage, now_ms};

/// How long what is under way may take to end when nothing is broken any more.
const DRAIN_MAX: Duration = Duration::from_mins(2);
const PUSHERS: usize = 3;

#[derive(Args, Clone, Debug)]
pub(crate) struct PostingChaos {
    #[command(flatten)]
    common: ChaosOptions<plant::Plant>,
    /// How many dispatcher processes share the work
    #[arg(long, default_value_t = 3)]
    dispatchers: u32,
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct ChaosOutcome {
    kills: u32,
    broken: Vec<&'static str>,
}

pub(crate) fn run(options: &PostingChaos) -> Result<()> {
    options.common.judge(|program| run_program(program, options))
}

pub(crate) fn run_program(program: &Path, options: &PostingChaos) -> Result<ChaosOutcome> {
    let cast = format!("{} dispatchers, 2 APIs, 1 PostgreSQL", options.dispatchers);
    options.common.perform("posting", &cast, async |dir: &Path, seed| play(program, dir, seed, options).await)
}

async fn play(program: &Path, dir: &Path, seed: u64, options: &PostingChaos) -> Result<ChaosOutcome> {
    let started = Instant::now();
    let mut stage = Stage::open(&posting::SUBJECT, program, dir, seed).await?;
    if let Some(plant) = options.common.plant {
        stage.is_about_fences = plant == plant::Plant::NoFencing;
        plant::install(&stage.db, plant).await?;
    }
    if stage.is_about_fences {
        stage.crew.calm_down();
    }
    stage.add_workers(options.dispatchers).await?;
    let stage = Arc::new(stage);
    let pushed = Arc::new(Pushed::default());
    stage.unleash_faults().await?;
    let keeper = tokio::spawn(keep(Arc::clone(&stage)));
    let pushers: Vec<_> = (0..PUSHERS)
        .map(|_| {
            let (stage, pushed) = (Arc::clone(&stage), Arc::clone(&pushed));
            tokio::spawn(async move { pushed.push_on(&stage).await })
        })
        .collect();
    make_trouble(&stage, options.common.rounds, started, || format!("{} posts accepted", pushed.accepted().len())).await?;
    let peace_at = make_peace(&stage).await?;
    if options.common.plant == Some(plant::Plant::NoGates) {
        // Calls that take their time meet each other, however late the dispatchers came to their work.
        stage.slow_down(250).await?;
    }
    for pusher in pushers {
        tokio::time::timeout(DRAIN_MAX, pusher).await.context("a post is not accepted although all is well again")??;
    }
    let mut verdicts = vec![drained(&stage).await?];
    let ends = end(&stage, keeper).await?;
    let evidence = Evidence::gather(&stage, &pushed, peace_at).await?;
    verdicts.extend([
        check::arrived(&evidence),
        check::copies(&evidence),
        check::own_results(&evidence),
        limits::rates(&evidence),
        limits::parallel(&evidence),
        check::transitions(&evidence),
        processes(&stage, ends),
        answers(&pushed),
        server_log(&stage),
    ]);
    let facts = Facts { calls: &evidence.calls, peace_at: evidence.peace_at, story: &|id| evidence.story(id) };
    Ok(report::conclude(&stage, &facts, &verdicts, started).await)
}

/// Round after round; `progress` says what was done meanwhile.
async fn make_trouble(stage: &Arc<Stage>, rounds: u32, started: Instant, progress: impl Fn() -> String) -> Result<()> {
    let mut stopped = None;
    let mut round = 0;
    // Longer, if the stopped workers were unlucky: a run in which no fence was put to the test proves little.
    while round < rounds || (round < 2 * rounds && !has_enough_worst_moments(stage, rounds)) {
        round += 1;
        trouble::round(stage, round, &mut stopped).await?;
        if round % 10 == 0 {
            let (kills, took) = (stage.crew.tally().total(), started.elapsed().as_secs_f64());
            println!("round {round}: {kills} kills, {}, {took:.0} s", progress());
        }
    }
    if let Some(stopped) = stopped {
        stopped.await?;
    }
    Ok(())
}

/// The outside is well, and a last kill replaces those who still carry failpoints. Returns when that was.
async fn make_peace(stage: &Stage) -> Result<i64> {
    stage.end_faults().await?;
    let peace_at = now_ms();
    stage.is_pushing.store(false, Ordering::Release);
    stage.crew.calm_down();
    for part in [Part::Dispatcher, Part::Api] {
        if !(stage.subject.failpoints)(part).is_empty() {
            stage.crew.running(part).into_iter().for_each(kill_9);
        }
    }
    Ok(peace_at)
}

fn has_enough_worst_moments(stage: &Stage, rounds: u32) -> bool {
    stage.worst_moments.load(Ordering::Relaxed) >= rounds / 6
}

/// Starts again who died, counts what is under way, and is impatient.
async fn keep(stage: Arc<Stage>) -> Result<()> {
    let mut looked = Instant::now();
    while !stage.is_over.load(Ordering::Acquire) {
        stage.crew.tend()?;
        if looked.elapsed() > Duration::from_millis(300) {
            looked = Instant::now();
            if let Ok(count) = sqlx::query_scalar(stage.subject.under_way).fetch_one(&stage.db).await {
                stage.inflight.store(count, Ordering::Release);
            }
            let _ = sqlx::query(stage.subject.hurry).execute(&stage.db).await;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    Ok(())
}

/// Asks all processes to stop once nothing is under way; what ended otherwise than it should.
async fn end(stage: &Stage, keeper: JoinHandle<Result<()>>) -> Result<Vec<String>> {
    stage.is_over.store(true, Ordering::Release);
    keeper.await??;
    Ok(stage.crew.finish(Part::Dispatcher))
}

/// Waits until nothing is under way any more; who still is, is stuck.
async fn drained(stage: &Stage) -> Result<ChaosVerdict> {
    let started = Instant::now();
    stage.database_is_back().await?;
    loop {
        let left: Vec<(String, String)> = match sqlx::query_as(stage.subject.stuck).fetch_all(&stage.db).await {
            Ok(left) => left,
            Err(_) if started.elapsed() < DRAIN_MAX => continue,
            Err(error) => return Err(error.into()),
        };
        if left.is_empty() || started.elapsed() > DRAIN_MAX {
            let figures = format!("all had ended {:.1} s after the last trouble", started.elapsed().as_secs_f64());
            let broken = left.into_iter().map(|(id, words)| Broken { words, whose: Some(id) }).collect();
            return Ok(ChaosVerdict { promise: "nothing is stuck", figures, broken });
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn processes(stage: &Stage, ends: Vec<String>) -> ChaosVerdict {
    let tally = stage.crew.tally();
    let figures = format!("{} starts failed because the database went away under them", tally.failed_starts);
    let broken = tally.own_ends.iter().cloned().chain(ends).map(Broken::new).collect();
    ChaosVerdict { promise: "nobody ended by itself, and all stopped when asked to", figures, broken }
}

fn answers(pushed: &Pushed) -> ChaosVerdict {
    let figures = format!("{} requests were repeated with the same reference", pushed.repeated.load(Ordering::Relaxed));
    ChaosVerdict { promise: "no post was refused", figures, broken: pushed.refused().into_iter().map(Broken::new).collect() }
}

fn server_log(stage: &Stage) -> ChaosVerdict {
    stage.read_log(|log| {
        let mut broken: Vec<Broken> = log.errors.iter().map(|(words, count)| Broken::new(format!("{count} x {words}"))).collect();
        if log.deadlocks > 0 {
            broken.push(Broken::new(format!("{} deadlocks; see data/postgres/postgres.log", log.deadlocks)));
        }
        let figures = format!("{} deadlocks, {} kinds of other errors in the log of PostgreSQL", log.deadlocks, log.errors.len());
        ChaosVerdict { promise: "no deadlock, no error that nobody caused", figures, broken }
    })
}
