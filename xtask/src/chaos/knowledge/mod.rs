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
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::Args;

use super::{
    ChaosOutcome, DRAIN_MAX,
    check::{Broken, ChaosVerdict},
    drained, end, keep, make_peace, make_trouble,
    options::ChaosOptions,
    processes,
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
    #[command(flatten)]
    common: ChaosOptions<ArchivePlant>,
    /// How many processes share the jobs
    #[arg(long, default_value_t = 2)]
    runners: u32,
}

pub(crate) fn run(options: &KnowledgeChaos) -> Result<()> {
    options.common.judge(|program| run_program(program, options))
}

fn run_program(program: &Path, options: &KnowledgeChaos) -> Result<ChaosOutcome> {
    let cast = format!("{} runners, {} APIs, 1 PostgreSQL, {} groups", options.runners, SUBJECT.apis + 1, groups::GROUPS.len());
    options.common.perform("knowledge", &cast, async |dir: &Path, seed| play(program, dir, seed, options).await)
}

async fn play(program: &Path, dir: &Path, seed: u64, options: &KnowledgeChaos) -> Result<ChaosOutcome> {
    let started = Instant::now();
    let stage = Stage::open(&SUBJECT, program, dir, seed).await?;
    if let Some(plant) = options.common.plant {
        plant::install(&stage.db, plant).await?;
    }
    stage.add_workers(options.runners).await?;
    let stage = Arc::new(stage);
    let ledger = Arc::new(ArchiveLedger::default());
    let keeper = tokio::spawn(keep(Arc::clone(&stage)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| tokio::spawn(Writer { stage: Arc::clone(&stage), ledger: Arc::clone(&ledger) }.write_on()))
        .collect();
    if options.common.plant == Some(ArchivePlant::EmbedAfterEdit) {
        // Vectors that take their time, so that an edit comes before them; and nothing else that would keep it away.
        stage.slow_down(900).await?;
        tokio::time::sleep(Duration::from_secs(8)).await;
    } else {
        stage.unleash_faults().await?;
        make_trouble(&stage, options.common.rounds, started, || format!("{} updates taken", ledger.taken().len())).await?;
    }
    let peace_at = make_peace(&stage).await?;
    for writer in writers {
        let done = tokio::time::timeout(DRAIN_MAX, writer).await;
        done.context("an update is not taken although all is well again")???;
    }
    ledger.copies_are_over().await?;
    let mut verdicts = vec![drained(&stage).await?];
    collect_garbage(&stage).await?;
    let ends = end(&stage, keeper).await?;
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
    Ok(report::conclude(&stage, &facts, &verdicts, started).await)
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
