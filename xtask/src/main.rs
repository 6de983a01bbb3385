//! The project's own tools. `cargo xtask test` is what CI runs.

mod bench;
mod chaos;
mod licences;
mod programs;
mod run;
mod scratch;
mod test;
mod tidy;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every test there is: formatting, lints, habits, licences, unit, SQL, HTTP, clients, crash and browser
    Test,
    /// Write db/schema.sql anew
    Schema,
    /// Write what clients use of the contract of actions anew
    Contract,
    /// Check the habits that a compiler cannot: rooms, edges between crates, file headers
    Tidy,
    /// Measure beside peers
    #[command(subcommand)]
    Bench(Bench),
    /// Kill everything that can be killed, and show that nothing was lost or done twice
    #[command(subcommand)]
    Chaos(Chaos),
}

#[derive(Subcommand)]
enum Bench {
    /// The job queue beside graphile-worker and pg-boss (npm) and graphile_worker (the Rust crate)
    Jobs(bench::jobs::Options),
    /// Posts on their way to forty channels beside the same peers and beside PostgreSQL alone
    Posting(bench::posting::Options),
    /// The shop bot beside the same bot made with grammY (npm)
    Shopbot(bench::shopbot::Options),
    /// Thousands of watchers of chats beside plain axum, which keeps nothing
    Actions(bench::actions::Options),
}

#[derive(Subcommand)]
enum Chaos {
    /// Posts, dispatchers and channels
    Posting(chaos::Options),
    /// Customers, webhooks and answers
    Shopbot(chaos::shopbot::Options),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Test => test::run(),
        Command::Schema => test::write_schema(),
        Command::Contract => test::write_contract(),
        Command::Tidy => tidy::run(),
        Command::Bench(Bench::Jobs(options)) => bench::jobs::run(&options),
        Command::Chaos(Chaos::Posting(options)) => chaos::run(&options),
        Command::Chaos(Chaos::Shopbot(options)) => chaos::shopbot::run(&options),
        Command::Bench(Bench::Posting(options)) => bench::posting::run(&options),
        Command::Bench(Bench::Shopbot(options)) => bench::shopbot::run(&options),
        Command::Bench(Bench::Actions(options)) => bench::actions::run(&options),
    }
}
