//! The flags of `beresta webhook`.

use clap::{Args, Subcommand};
use uuid::Uuid;

use crate::{cli::DataPlace, commands::ops::args::Common};

/// Programs that are told of events, at least once each. docs/webhooks.md says how a receiver verifies them.
#[derive(Subcommand)]
pub(crate) enum WebhookCommand {
    /// Add a webhook; without --secret-ref a secret is made, kept in a file and shown once
    Add(AddArgs),
    /// List the webhooks and how they do
    List(Common),
    /// List the events that a webhook can ask for
    Events {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: DataPlace,
    },
    /// Send the event webhook.test and wait for the answer
    Test(OneWebhook),
    /// Show what was sent and what came back, newest first
    Log(LogArgs),
    /// Send what an ended delivery carried once more, as a new delivery
    Resend(ResendArgs),
    /// Send nothing for now; events are collected, for a week at most
    Pause(PauseArgs),
    /// Send again what a paused or disabled webhook has collected
    Enable(OneWebhook),
    /// Give a webhook another secret; for a while both sign
    Rotate(RotateArgs),
    /// Remove a webhook; what waits for it is not sent any more
    Remove(RemoveArgs),
    /// Print a new secret, for a place of your own
    Secret,
}

/// Who does it.
#[derive(Args)]
pub(crate) struct Doer {
    /// Who does it; the journal keeps the name
    #[arg(long, env = "USER", default_value = "command line", hide_env_values = true, hide_default_value = true)]
    pub(crate) operator: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct AddArgs {
    /// A name, once in the workspace
    #[arg(long)]
    pub(crate) name: String,
    /// Where events are sent
    #[arg(long)]
    pub(crate) url: String,
    /// What it asks for: post.sent, post.* or *; several are possible. `beresta webhook events` lists them
    #[arg(long = "event", required = true, num_args = 1.., value_delimiter = ',')]
    pub(crate) events: Vec<String>,
    /// Where its secret is kept: env:NAME or file:PATH
    #[arg(long)]
    pub(crate) secret_ref: Option<String>,
    #[command(flatten)]
    pub(crate) doer: Doer,
}

#[derive(Args)]
pub(crate) struct OneWebhook {
    /// Its name or id
    pub(crate) webhook: String,
    #[command(flatten)]
    pub(crate) doer: Doer,
}

#[derive(Args)]
pub(crate) struct LogArgs {
    /// Only deliveries of this webhook, by name or id
    pub(crate) webhook: Option<String>,
    /// Only of this status: queued, sending, retry, delivered, failed, dead
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only events of this type
    #[arg(long)]
    pub(crate) event: Option<String>,
    /// How many to show at most
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct ResendArgs {
    /// The delivery, as `beresta webhook log` shows it
    pub(crate) delivery: Uuid,
    #[command(flatten)]
    pub(crate) doer: Doer,
}

#[derive(Args)]
pub(crate) struct PauseArgs {
    /// Its name or id
    pub(crate) webhook: String,
    /// Why; it is shown, and the journal keeps the words
    #[arg(long)]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) doer: Doer,
}

#[derive(Args)]
pub(crate) struct RotateArgs {
    /// Its name or id
    pub(crate) webhook: String,
    /// Where the new secret is kept: env:NAME or file:PATH; without it one is made and shown once
    #[arg(long)]
    pub(crate) secret_ref: Option<String>,
    /// For how long the old secret signs too
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u16).range(0..=720))]
    pub(crate) hours: u16,
    #[command(flatten)]
    pub(crate) doer: Doer,
}

#[derive(Args)]
pub(crate) struct RemoveArgs {
    /// Its name or id
    pub(crate) webhook: String,
    /// Do it
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) doer: Doer,
}
