//! `cargo xtask chaos shopbot`: customers of many chats write to a bot that several processes answer for, everything that can be
//! killed is killed, and a checker with ledgers of its own says what became of each message.

mod chats;
mod check;
mod customers;
mod evidence;
mod moves;
mod plant;
mod subject;

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Instant,
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
use customers::{Customer, Ledger};
use evidence::AnswerEvidence;
use subject::SUBJECT;

#[derive(Args, Clone, Debug)]
pub(crate) struct ShopbotChaos {
    /// Names the run: its troubles and their order come from this number. Without it, a new one
    #[arg(long)]
    seed: Option<u64>,
    /// How often trouble is made; a round has three troubles and lasts some two seconds
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// How many processes share the sending of answers
    #[arg(long, default_value_t = 3)]
    dispatchers: u32,
    /// Break the database first, to see that the checker finds it: the run must then fail
    #[arg(long, value_enum)]
    plant: Option<plant::AnswerPlant>,
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

pub(crate) fn run(options: &ShopbotChaos) -> Result<()> {
    let program = options.program.clone().map_or_else(|| build(options.release), Ok)?;
    let outcome = run_program(&program, options)?;
    ensure!(outcome.broken.is_empty(), "broken after {} kills: {}", outcome.kills, outcome.broken.join("; "));
    Ok(())
}

fn run_program(program: &Path, options: &ShopbotChaos) -> Result<ChaosOutcome> {
    let seed = options.seed.unwrap_or_else(new_seed);
    let plant = options.plant.map(|plant| format!(", planted: {plant:?}")).unwrap_or_default();
    let keep = match options.plant {
        _ if options.keep => Keep::Always,
        Some(_) => Keep::Never,
        None => Keep::WhenBroken,
    };
    in_a_directory(keep, async |dir: &Path| {
        println!(
            "chaos shopbot: seed {seed}, {} rounds, {} senders, {} APIs, 1 PostgreSQL, {} chats{plant}; in {}",
            options.rounds,
            options.dispatchers,
            SUBJECT.apis + 1,
            chats::chats().len(),
            dir.display()
        );
        play(program, dir, seed, options).await
    })
}

async fn play(program: &Path, dir: &Path, seed: u64, options: &ShopbotChaos) -> Result<ChaosOutcome> {
    let started = Instant::now();
    let stage = Stage::open(&SUBJECT, program, dir, seed).await?;
    if let Some(plant) = options.plant {
        plant::install(&stage.db, plant).await?;
    }
    stage.add_workers(options.dispatchers).await?;
    let stage = Arc::new(stage);
    let ledger = Arc::new(Ledger::default());
    stage.unleash_faults().await?;
    let keeper = tokio::spawn(keep(Arc::clone(&stage)));
    let customers: Vec<_> = chats::chats()
        .into_iter()
        .map(|chat| tokio::spawn(Customer { stage: Arc::clone(&stage), ledger: Arc::clone(&ledger), chat }.write_on()))
        .collect();
    make_trouble(&stage, options.rounds, started, || format!("{} messages acknowledged", ledger.acknowledged())).await?;
    let peace_at = make_peace(&stage).await?;
    for customer in customers {
        let done = tokio::time::timeout(DRAIN_MAX, customer).await;
        done.context("a message is not acknowledged although all is well again")??;
    }
    ledger.copies_are_over().await?;
    let mut verdicts = vec![drained(&stage).await?];
    stage.is_over.store(true, Ordering::Release);
    keeper.await??;
    let ends = stage.crew.finish(Part::Dispatcher);
    let evidence = AnswerEvidence::gather(&stage, &ledger).await?;
    verdicts.extend([
        check::answered(&evidence),
        check::copies(&evidence),
        check::order(&evidence),
        check::turns(&evidence),
        check::poison(&evidence),
        moves::own_results(&evidence),
        moves::transitions(&evidence),
        processes(&stage, ends),
        webhooks(&ledger),
        server_log(&stage),
    ]);
    let facts = Facts { calls: &evidence.calls, peace_at, story: &|id| evidence.story(id) };
    let outcome = report::print(&stage, &facts, &verdicts, started.elapsed());
    stage.close().await;
    Ok(outcome)
}

fn webhooks(ledger: &Ledger) -> ChaosVerdict {
    let figures = format!("{} were brought again until they were taken", ledger.repeated.load(Ordering::Relaxed));
    ChaosVerdict { promise: "no webhook was refused", figures, broken: ledger.refused().into_iter().map(Broken::new).collect() }
}
