//! `cargo xtask chaos posting`: several dispatchers on one database, everything that can be killed is killed, and a checker with
//! ledgers of its own says what became of the posts. `chaos shopbot` and `chaos knowledge` are the same harness around other modules.

mod channels;
mod check;
mod crew;
mod evidence;
mod limits;
mod log;
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
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::run::{cargo, root, step};
use check::{Broken, ChaosVerdict};
use crew::{Part, kill_9};
use evidence::Evidence;
use pusher::Pushed;
use report::Facts;
use stage::{Stage, now_ms};

/// How long what is under way may take to end when nothing is broken any more.
const DRAIN_MAX: Duration = Duration::from_mins(2);
const PUSHERS: usize = 3;

#[derive(Args, Clone, Debug)]
pub(crate) struct PostingChaos {
    /// Names the run: its troubles and their order come from this number. Without it, a new one
    #[arg(long)]
    seed: Option<u64>,
    /// How often trouble is made; a round has three troubles and lasts some two seconds
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// How many dispatcher processes share the work
    #[arg(long, default_value_t = 3)]
    dispatchers: u32,
    /// Break the database's functions first, to see that the checker finds it: the run must then fail
    #[arg(long, value_enum)]
    plant: Option<plant::Plant>,
    /// Run the optimized program
    #[arg(long)]
    release: bool,
    /// Run this program instead of building one
    #[arg(long)]
    program: Option<PathBuf>,
    /// Keep the directory of the run also when all is well
    #[arg(long)]
    keep: bool,
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct ChaosOutcome {
    kills: u32,
    broken: Vec<&'static str>,
}

pub(crate) fn run(options: &PostingChaos) -> Result<()> {
    let program = options.program.clone().map_or_else(|| build(options.release), Ok)?;
    let outcome = run_program(&program, options)?;
    ensure!(outcome.broken.is_empty(), "broken after {} kills: {}", outcome.kills, outcome.broken.join("; "));
    Ok(())
}

fn build(is_release: bool) -> Result<PathBuf> {
    let mut args = vec!["build", "--package", "beresta"];
    args.extend(is_release.then_some("--release"));
    step("build", cargo(&args))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join(if is_release { "release" } else { "debug" }).join("beresta"))
}

pub(crate) fn run_program(program: &Path, options: &PostingChaos) -> Result<ChaosOutcome> {
    let seed = options.seed.unwrap_or_else(new_seed);
    let plant = options.plant.map(|plant| format!(", planted: {plant:?}")).unwrap_or_default();
    let keep = match options.plant {
        _ if options.keep => Keep::Always,
        Some(_) => Keep::Never,
        None => Keep::WhenBroken,
    };
    in_a_directory(keep, async |dir: &Path| {
        println!(
            "chaos posting: seed {seed}, {} rounds, {} dispatchers, 2 APIs, 1 PostgreSQL{plant}; in {}",
            options.rounds,
            options.dispatchers,
            dir.display()
        );
        play(program, dir, seed, options).await
    })
}

fn new_seed() -> u64 {
    now_ms().unsigned_abs() % 1_000_000
}

/// When the directory of a run stays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Always,
    WhenBroken,
    /// A run that has to fail leaves nothing to look at.
    Never,
}

/// Runs a play in a directory of its own.
fn in_a_directory(keep: Keep, play: impl AsyncFnOnce(&Path) -> Result<ChaosOutcome>) -> Result<ChaosOutcome> {
    let dir = tempfile::Builder::new().prefix("beresta-chaos-").tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(play(dir.path()));
    runtime.shutdown_timeout(Duration::from_secs(1));
    let is_well = result.as_ref().is_ok_and(|outcome| outcome.broken.is_empty());
    if keep == Keep::Always || (keep == Keep::WhenBroken && !is_well) {
        println!("kept: {}", dir.keep().display());
    }
    result
}

async fn play(program: &Path, dir: &Path, seed: u64, options: &PostingChaos) -> Result<ChaosOutcome> {
    let started = Instant::now();
    let mut stage = Stage::open(&posting::SUBJECT, program, dir, seed).await?;
    if let Some(plant) = options.plant {
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
    make_trouble(&stage, options.rounds, started, || format!("{} posts accepted", pushed.accepted().len())).await?;
    let peace_at = make_peace(&stage).await?;
    if options.plant == Some(plant::Plant::NoGates) {
        // Calls that take their time meet each other, however late the dispatchers came to their work.
        stage.slow_down(250).await?;
    }
    for pusher in pushers {
        tokio::time::timeout(DRAIN_MAX, pusher).await.context("a post is not accepted although all is well again")??;
    }
    let mut verdicts = vec![drained(&stage).await?];
    stage.is_over.store(true, Ordering::Release);
    keeper.await??;
    let ends = stage.crew.finish(Part::Dispatcher);
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
    let outcome = report::print(&stage, &facts, &verdicts, started.elapsed());
    stage.close().await;
    Ok(outcome)
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
