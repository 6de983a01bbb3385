//! The flags of `beresta ops`.

use clap::{Args, Subcommand};
use uuid::Uuid;

use crate::cli::DataPlace;

/// The runbook: what an operator does by hand. Every change is one transaction in one workspace, leaves events with
/// operator and reason, and never counts an attempt.
#[derive(Subcommand)]
pub(crate) enum OpsCommand {
    /// Show what is wrong now
    Alerts(Common),
    /// Take an alert on: no more reminders of it until it clears
    Acknowledge(Acknowledge),
    /// Count the deliveries of each status
    Snapshot(Common),
    /// Show what broke lately, newest first
    Errors(Errors),
    /// Give dead deliveries one more attempt
    RequeueDead(Requeue),
    /// Try deliveries again that failed for a reason of their own, not of their channel or platform
    RequeueFailed(Requeue),
    /// Send nothing to a channel for a while; its posts wait
    Pause(Pause),
    /// Open a channel again: enabled, not paused, its errors forgotten
    Enable(OneChannel),
    /// Close every channel of a rate group until it is enabled again
    DisableGroup(Group),
    /// Open every channel of a rate group again: enabled, not paused, errors forgotten
    EnableGroup(Group),
    /// Switch a channel to another credential once nothing is being sent with the old one
    RotateAuth(RotateAuth),
    /// Free what workers have held for too long; the monitor does so by itself when leases run out
    ReleaseStale(ReleaseStale),
    /// Say what became of a delivery whose outcome nobody knows
    Settle(Settle),
}

#[derive(Args)]
pub(crate) struct Common {
    /// Name or id of the workspace
    #[arg(long)]
    pub(crate) workspace: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: DataPlace,
}

/// What every change names.
#[derive(Args)]
pub(crate) struct Author {
    /// Who does it; the event keeps the name
    #[arg(long, env = "USER", hide_env_values = true)]
    pub(crate) operator: String,
    /// Why; the event keeps the words
    #[arg(long)]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct Errors {
    /// How far to look back
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=43_200))]
    pub(crate) minutes: u32,
    /// How many to show at most
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct Acknowledge {
    /// Who raised it: the first column of `ops alerts`
    #[arg(long)]
    pub(crate) module: String,
    /// Which one: the second column
    #[arg(long)]
    pub(crate) alert: String,
    /// Only this subject of it
    #[arg(long)]
    pub(crate) subject: Option<String>,
    #[command(flatten)]
    pub(crate) author: Author,
}

#[derive(Args)]
pub(crate) struct Requeue {
    /// A delivery; may be given several times. All of them are requeued, or none
    #[arg(long = "delivery", value_name = "ID", num_args = 1.., required_unless_present = "all")]
    pub(crate) deliveries: Vec<Uuid>,
    /// All deliveries that this is for; says how many and does nothing until --yes is added
    #[arg(long, conflicts_with = "deliveries")]
    pub(crate) all: bool,
    /// Do it
    #[arg(long, requires = "all")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) author: Author,
}

#[derive(Args)]
pub(crate) struct Pause {
    /// The channel's id
    #[arg(long)]
    pub(crate) channel: String,
    /// For how long
    #[arg(long, default_value_t = 3600)]
    pub(crate) seconds: u32,
    #[command(flatten)]
    pub(crate) author: Author,
}

#[derive(Args)]
pub(crate) struct OneChannel {
    /// The channel's id
    #[arg(long)]
    pub(crate) channel: String,
    #[command(flatten)]
    pub(crate) author: Author,
}

#[derive(Args)]
pub(crate) struct Group {
    /// The rate group that the channels share
    #[arg(long)]
    pub(crate) group: String,
    #[command(flatten)]
    pub(crate) author: Author,
}

#[derive(Args)]
pub(crate) struct RotateAuth {
    /// The channel's id
    #[arg(long)]
    pub(crate) channel: String,
    /// The new credential: a name in posting.credential_bindings, never the secret itself
    #[arg(long)]
    pub(crate) auth_ref: String,
    /// Also move the channel to this rate group
    #[arg(long)]
    pub(crate) group: Option<String>,
    #[command(flatten)]
    pub(crate) author: Author,
}

#[derive(Args)]
pub(crate) struct ReleaseStale {
    /// Free what has been held for longer than this
    #[arg(long, default_value_t = 10)]
    pub(crate) minutes: u32,
    /// Do it; without this it says how many there are
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) author: Author,
}

#[derive(Args)]
#[command(group(clap::ArgGroup::new("verdict").required(true).args(["delivered", "resend"])))]
pub(crate) struct Settle {
    /// The delivery
    #[arg(long, value_name = "ID")]
    pub(crate) delivery: Uuid,
    /// It arrived: mark it sent
    #[arg(long)]
    pub(crate) delivered: bool,
    /// It did not arrive, or a second copy does no harm: send it again
    #[arg(long)]
    pub(crate) resend: bool,
    /// The provider's id of the message, if known
    #[arg(long, requires = "delivered")]
    pub(crate) provider_message_id: Option<String>,
    #[command(flatten)]
    pub(crate) author: Author,
}
