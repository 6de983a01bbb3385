//! `cargo xtask bench posting`: a post on its way from the push through our server to forty channels, with its whole audit,
//! beside queues that do the same HTTP sends without one, and beside what PostgreSQL can do at all.

mod flat;
mod physical;
mod quiet;
mod stage;
mod throughput;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::{machine, stage::Cast};
use stage::BenchStage;

#[derive(Args)]
pub(crate) struct PostingBench {
    /// Posts per run; each goes to 40 channels
    #[arg(long)]
    posts: Option<u32>,
    /// How often every contestant runs
    #[arg(long)]
    rounds: Option<u32>,
    /// Everything smaller: under three minutes
    #[arg(long)]
    quick: bool,
    /// Only these parts, separated by commas: throughput, peers, physical, flat, held, latency, idle, noisy
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How long load goes on beside a transaction that is held open
    #[arg(long)]
    held_seconds: Option<u32>,
    /// Finished deliveries that are already there in the larger run of `flat`
    #[arg(long)]
    rows: Option<u32>,
    /// Measure this server instead of the one that is built from here
    #[arg(long)]
    server: Option<PathBuf>,
}

const PARTS: [&str; 8] = ["throughput", "peers", "physical", "flat", "held", "latency", "idle", "noisy"];

/// The size of everything.
#[derive(Clone, Copy)]
struct PostingSizes {
    posts: u32,
    rounds: u32,
    physical_batches: u32,
    rows: u32,
    held_seconds: u32,
    steady_seconds: u32,
    backlog: u32,
}

impl PostingSizes {
    fn of(options: &PostingBench) -> Self {
        let full = Self {
            posts: 500,
            rounds: 3,
            physical_batches: 200,
            rows: 1_000_000,
            held_seconds: 120,
            steady_seconds: 30,
            backlog: 20_000,
        };
        let quick = Self {
            posts: 150,
            rounds: 1,
            physical_batches: 80,
            rows: 100_000,
            held_seconds: 15,
            steady_seconds: 8,
            backlog: 4000,
        };
        let base = if options.quick { quick } else { full };
        Self {
            posts: options.posts.unwrap_or(base.posts).max(1),
            rounds: options.rounds.unwrap_or(base.rounds).max(1),
            rows: options.rows.unwrap_or(base.rows),
            held_seconds: options.held_seconds.unwrap_or(base.held_seconds),
            ..base
        }
    }
}

pub(crate) fn run(options: &PostingBench) -> Result<()> {
    let parts = machine::wanted(&PARTS, &options.only)?;
    let is_wanted = |part: &str| parts.contains(&part);
    let sizes = PostingSizes::of(options);
    machine::build()?;
    let server = machine::server(options.server.as_deref())?;
    let mut stage = BenchStage::start(&Cast { sender: "bench_posting", providers: "" }, server)?;
    let contestants: Vec<&str> = ["throughput", "peers", "physical"].into_iter().filter(|part| is_wanted(part)).collect();
    if !contestants.is_empty() {
        throughput::run(&mut stage, sizes, &contestants)?;
    }
    if is_wanted("flat") || is_wanted("held") {
        flat::run(&mut stage, sizes, is_wanted("flat"), is_wanted("held"))?;
    }
    if is_wanted("latency") {
        quiet::latency(&mut stage, sizes)?;
    }
    if is_wanted("idle") {
        quiet::idle(&mut stage, sizes)?;
    }
    if is_wanted("noisy") {
        quiet::noisy(&mut stage, sizes)?;
    }
    Ok(())
}
