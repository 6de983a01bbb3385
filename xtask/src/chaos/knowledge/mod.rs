//! `cargo xtask chaos knowledge`: the people of four groups write, edit, link and forget, everything that can be killed is killed, and
//! a checker with a ledger of its own says what became of each message, page and chunk, and what is left of the forgotten.

mod check;
mod evidence;
mod groups;
mod plant;
mod subject;
mod traces;
mod writers;

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::{
    ChaosOutcome, DRAIN_MAX, Keep, build,
    check::{Broken, ChaosVerdict},
    crew::Part,
    drained, in_a_directory, keep, make_peace, make_trouble, new_seed, processes,
    report::{self, Facts},
    server_log,
    stage::Stage,
};
use evidence::ArchiveEvidence;
use plant::ArchivePlant;
use subject::SUBJECT;
use writers::{ArchiveLedger, Writer};

const WRITERS: usize = 4;

#[derive(Args, Clone, Debug)]
pub(crate) struct KnowledgeChaos {
    /// Names the run: its troubles and their order come from this number. Without it, a new one
    #[arg(long)]
    seed: Option<u64>,
    /// How often trouble is made; a round has three troubles and lasts some two seconds
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// How many processes share the jobs
    #[arg(long, default_value_t = 2)]
    runners: u32,
    /// Break the database first, to see that the checker finds it: the run must then fail
    #[arg(long, value_enum)]
    plant: Option<ArchivePlant>,
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

pub(crate) fn run(options: &KnowledgeChaos) -> Result<()> {
    let program = options.program.clone().map_or_else(|| build(options.release), Ok)?;
    let outcome = run_program(&program, options)?;
    ensure!(outcome.broken.is_empty(), "broken after {} kills: {}", outcome.kills, outcome.broken.join("; "));
    Ok(())
}

fn run_program(program: &Path, options: &KnowledgeChaos) -> Result<ChaosOutcome> {
    let seed = options.seed.unwrap_or_else(new_seed);
    let plant = options.plant.map(|plant| format!(", planted: {plant:?}")).unwrap_or_default();
    let keep = match options.plant {
        _ if options.keep => Keep::Always,
        Some(_) => Keep::Never,
        None => Keep::WhenBroken,
    };
    in_a_directory(keep, async |dir: &Path| {
        println!(
            "chaos knowledge: seed {seed}, {} rounds, {} runners, {} APIs, 1 PostgreSQL, {} groups{plant}; in {}",
            options.rounds,
            options.runners,
            SUBJECT.apis + 1,
            groups::GROUPS.len(),
            dir.display()
        );
        play(program, dir, seed, options).await
    })
}

async fn play(program: &Path, dir: &Path, seed: u64, options: &KnowledgeChaos) -> Result<ChaosOutcome> {
    let started = Instant::now();
    let stage = Stage::open(&SUBJECT, program, dir, seed).await?;
    if let Some(plant) = options.plant {
        plant::install(&stage.db, plant).await?;
    }
    stage.add_workers(options.runners).await?;
    let stage = Arc::new(stage);
    let ledger = Arc::new(ArchiveLedger::default());
    let keeper = tokio::spawn(keep(Arc::clone(&stage)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| tokio::spawn(Writer { stage: Arc::clone(&stage), ledger: Arc::clone(&ledger) }.write_on()))
        .collect();
    if options.plant == Some(ArchivePlant::EmbedAfterEdit) {
        // Vectors that take their time, so that an edit comes before them; and nothing else that would keep it away.
        stage.slow_down(900).await?;
        tokio::time::sleep(Duration::from_secs(8)).await;
    } else {
        stage.unleash_faults().await?;
        make_trouble(&stage, options.rounds, started, || format!("{} updates taken", ledger.taken().len())).await?;
    }
    let peace_at = make_peace(&stage).await?;
    for writer in writers {
        let done = tokio::time::timeout(DRAIN_MAX, writer).await;
        done.context("an update is not taken although all is well again")???;
    }
    ledger.copies_are_over().await?;
    let mut verdicts = vec![drained(&stage).await?];
    collect_garbage(&stage).await?;
    stage.is_over.store(true, Ordering::Release);
    keeper.await??;
    let ends = stage.crew.finish(Part::Dispatcher);
    let evidence = ArchiveEvidence::gather(&stage, &ledger).await?;
    verdicts.extend([
        check::updates(&evidence),
        check::jobs(&evidence),
        check::messages(&evidence),
        check::pages(&evidence),
        check::chunks(&evidence),
        check::vectors(&evidence),
        check::forgotten(&evidence),
        processes(&stage, ends),
        requests(&ledger),
        server_log(&stage),
    ]);
    let facts = Facts { calls: &evidence.calls, peace_at, story: &|id| evidence.story(id) };
    let outcome = report::print(&stage, &facts, &verdicts, started.elapsed());
    stage.close().await;
    Ok(outcome)
}

/// Objects that no row names wait for half an hour, in case somebody still writes them. Nobody does any more: the wait is cut short,
/// and what a killed process left is removed by the job that would have come then.
async fn collect_garbage(stage: &Stage) -> Result<()> {
    for query in [
        "update content.object_garbage set since = since - interval '1 hour'",
        "select ops.enqueue_job(workspace_id, 'knowledge.remove_objects', '{}', null, 'remove_objects') from core.workspaces where name = 'chaos'",
    ] {
        sqlx::query(query).execute(&stage.db).await?;
    }
    drained(stage).await?;
    Ok(())
}

fn requests(ledger: &ArchiveLedger) -> ChaosVerdict {
    let figures = format!("{} requests were made again until they were answered", ledger.repeated.load(Ordering::Relaxed));
    ChaosVerdict { promise: "no request was refused", figures, broken: ledger.refused().into_iter().map(Broken::new).collect() }
}
