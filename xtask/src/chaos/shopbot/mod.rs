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
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Instant,
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
use customers::{Customer, Ledger};
use evidence::AnswerEvidence;
use subject::SUBJECT;

#[derive(Args, Clone, Debug)]
pub(crate) struct ShopbotChaos {
    #[command(flatten)]
    common: ChaosOptions<plant::AnswerPlant>,
    /// How many processes share the sending of answers
    #[arg(long, default_value_t = 3)]
    dispatchers: u32,
}

pub(crate) fn run(options: &ShopbotChaos) -> Result<()> {
    options.common.judge(|program| run_program(program, options))
}

fn run_program(program: &Path, options: &ShopbotChaos) -> Result<ChaosOutcome> {
    let cast =
        format!("{} senders, {} APIs, 1 PostgreSQL, {} chats", options.dispatchers, SUBJECT.apis + 1, chats::chats().len());
    options.common.perform("shopbot", &cast, async |dir: &Path, seed| play(program, dir, seed, options).await)
}

async fn play(program: &Path, dir: &Path, seed: u64, options: &ShopbotChaos) -> Result<ChaosOutcome> {
    let started = Instant::now();
    let stage = Stage::open(&SUBJECT, program, dir, seed).await?;
    if let Some(plant) = options.common.plant {
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
    make_trouble(&stage, options.common.rounds, started, || format!("{} messages acknowledged", ledger.acknowledged())).await?;
    let peace_at = make_peace(&stage).await?;
    for customer in customers {
        let done = tokio::time::timeout(DRAIN_MAX, customer).await;
        done.context("a message is not acknowledged although all is well again")??;
    }
    ledger.copies_are_over().await?;
    let mut verdicts = vec![drained(&stage).await?];
    let ends = end(&stage, keeper).await?;
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
    Ok(report::conclude(&stage, &facts, &verdicts, started).await)
}

fn webhooks(ledger: &Ledger) -> ChaosVerdict {
    let figures = format!("{} were brought again until they were taken", ledger.repeated.load(Ordering::Relaxed));
    ChaosVerdict { promise: "no webhook was refused", figures, broken: ledger.refused().into_iter().map(Broken::new).collect() }
}
