//! `cargo xtask bench shopbot`: a customer's message on its way from the webhook through a bot to the messenger: ours, with its
//! receipts and its log, and the same bot made with grammY on the same PostgreSQL.

mod contestants;
mod latency;
mod throughput;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::{
    machine,
    stage::{BenchStage, Cast},
};

#[derive(Args)]
pub(crate) struct ShopbotBench {
    /// Messages per run; five make a conversation
    #[arg(long)]
    messages: Option<u32>,
    /// How often every contestant runs
    #[arg(long)]
    rounds: Option<u32>,
    /// Everything smaller: under two minutes
    #[arg(long)]
    quick: bool,
    /// Only these parts, separated by commas: throughput, latency
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Measure this server instead of the one that is built from here
    #[arg(long)]
    server: Option<PathBuf>,
}

const PARTS: [&str; 2] = ["throughput", "latency"];
/// Messages of one conversation, as the sender has them.
const LINES: u32 = 5;

/// The size of everything.
#[derive(Clone, Copy)]
struct ShopbotSizes {
    messages: u32,
    rounds: u32,
    steady_seconds: u32,
}

impl ShopbotSizes {
    fn of(options: &ShopbotBench) -> Self {
        let full = Self { messages: 10_000, rounds: 3, steady_seconds: 30 };
        let quick = Self { messages: 2000, rounds: 1, steady_seconds: 10 };
        let base = if options.quick { quick } else { full };
        Self {
            messages: options.messages.unwrap_or(base.messages).next_multiple_of(LINES).max(LINES),
            rounds: options.rounds.unwrap_or(base.rounds).max(1),
            ..base
        }
    }
}

pub(crate) fn run(options: &ShopbotBench) -> Result<()> {
    let parts = machine::wanted(&PARTS, &options.only)?;
    let sizes = ShopbotSizes::of(options);
    machine::build()?;
    let server = machine::server(options.server.as_deref())?;
    let mut stage = BenchStage::start(&Cast { sender: "bench_shopbot", providers: "chats/" }, server)?;
    if parts.contains(&"throughput") {
        throughput::run(&mut stage, sizes)?;
    }
    if parts.contains(&"latency") {
        latency::run(&mut stage, sizes)?;
    }
    println!("\nours writes a receipt, an answer and a line of the log (rule, version, state, why) for every message, in the");
    println!(
        "transaction that changes the state, and answers no webhook twice; the npm bot keeps the state of each chat and nothing else"
    );
    Ok(())
}
