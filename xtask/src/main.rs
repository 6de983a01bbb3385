//! The project's own tools. `cargo xtask test` is what CI runs.

mod bench;
mod chaos;
mod licences;
mod packages;
mod programs;
mod run;
mod scratch;
mod test;
mod tidy;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct XtaskCli {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
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
    Jobs(bench::jobs::JobsBench),
    /// Posts on their way to forty channels beside the same peers and beside PostgreSQL alone
    Posting(bench::posting::PostingBench),
    /// The shop bot beside the same bot made with grammY (npm)
    Shopbot(bench::shopbot::ShopbotBench),
    /// Messages on their way from the webhook until they can be found, beside few chunks and beside many
    Ingest(bench::ingest::IngestBench),
    /// Thousands of watchers of chats beside plain axum, which keeps nothing
    Actions(bench::actions::ActionsBench),
    /// Documents to text beside trafilatura (PyPI) and pdftotext (poppler)
    Extract(bench::extract::ExtractBench),
    /// Questions and the paragraphs that answer them, beside tsvector, Tantivy and a learned model
    Retrieval(bench::retrieval::RetrievalBench),
}

#[derive(Subcommand)]
enum Chaos {
    /// Posts, dispatchers and channels
    Posting(chaos::PostingChaos),
    /// Customers, webhooks and answers
    Shopbot(chaos::shopbot::ShopbotChaos),
    /// Messages, pages, chunks and vectors, and what was forgotten
    Knowledge(chaos::knowledge::KnowledgeChaos),
}

fn main() -> Result<()> {
    match XtaskCli::parse().command {
        XtaskCommand::Test => test::run(),
        XtaskCommand::Schema => test::write_schema(),
        XtaskCommand::Contract => test::write_contract(),
        XtaskCommand::Tidy => tidy::run(),
        XtaskCommand::Bench(Bench::Jobs(options)) => bench::jobs::run(&options),
        XtaskCommand::Chaos(Chaos::Posting(options)) => chaos::run(&options),
        XtaskCommand::Chaos(Chaos::Shopbot(options)) => chaos::shopbot::run(&options),
        XtaskCommand::Chaos(Chaos::Knowledge(options)) => chaos::knowledge::run(&options),
        XtaskCommand::Bench(Bench::Posting(options)) => bench::posting::run(&options),
        XtaskCommand::Bench(Bench::Shopbot(options)) => bench::shopbot::run(&options),
        XtaskCommand::Bench(Bench::Ingest(options)) => bench::ingest::run(&options),
        XtaskCommand::Bench(Bench::Retrieval(options)) => bench::retrieval::run(&options),
        XtaskCommand::Bench(Bench::Actions(options)) => bench::actions::run(&options),
        XtaskCommand::Bench(Bench::Extract(options)) => bench::extract::run(&options),
    }
}
