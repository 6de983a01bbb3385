//! The overview and its live regions.

use askama::Template;

use super::{
    words::{Badge, Count, Moment, Shell, Tone, Trace},
    write::{grouped, polyline},
};

/// The first page: is it well, what is it doing, what went wrong, what happened.
#[derive(Debug, Template)]
#[template(path = "overview.html")]
pub struct OverviewPage {
    /// The frame.
    pub shell: Shell,
    /// Is it well.
    pub health: Health,
    /// What is it doing.
    pub jobs: JobsSummary,
    /// What went wrong lately.
    pub errors: Errors,
    /// What happened lately.
    pub journal: Journal,
}

/// The region `health` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/health.html")]
pub struct HealthFragment {
    /// Is it well.
    pub health: Health,
}

/// The region `jobs` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/jobs.html")]
pub struct JobsFragment {
    /// What is it doing.
    pub jobs: JobsSummary,
}

/// The region `errors` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/errors.html")]
pub struct ErrorsFragment {
    /// What went wrong lately.
    pub errors: Errors,
}

/// The region `journal` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/journal.html")]
pub struct JournalFragment {
    /// What happened lately.
    pub journal: Journal,
}

/// The state of the parts that everything stands on.
#[derive(Debug, Clone)]
pub struct Health {
    /// The whole in a few words: `All is well`. Read out when it changes.
    pub verdict: Badge,
    /// PostgreSQL.
    pub database: DatabaseHealth,
    /// The schema.
    pub migrations: MigrationHealth,
    /// This process.
    pub program: ProgramHealth,
    /// The roles that some process has taken, or should have.
    pub roles: Vec<RoleHealth>,
}

/// PostgreSQL, seen from here.
#[derive(Debug, Clone)]
pub struct DatabaseHealth {
    /// `Up` or `Down`.
    pub badge: Badge,
    /// One round trip: `0.6 ms`. None when it did not answer.
    pub latency: Option<String>,
    /// `PostgreSQL 18.6, pgvector 0.8.6`.
    pub version: String,
    /// `embedded, in the data directory` or `external, at db.example.org`.
    pub place: String,
}

/// Whether the schema is the one this program knows.
#[derive(Debug, Clone)]
pub struct MigrationHealth {
    /// `Current` or `2 pending`.
    pub badge: Badge,
    /// How many are applied.
    pub applied: i64,
    /// How many wait.
    pub pending: i64,
    /// The name of the newest applied one.
    pub latest: String,
}

/// The process that answers.
#[derive(Debug, Clone)]
pub struct ProgramHealth {
    /// `Serving` or `Stopping`.
    pub badge: Badge,
    /// Its version.
    pub version: String,
    /// When it started.
    pub started: Moment,
}

/// One role of the program, over all processes.
#[derive(Debug, Clone)]
pub struct RoleHealth {
    /// `api`, `dispatcher`, `runner` or `monitor`.
    pub name: String,
    /// How many processes have it.
    pub running: i64,
    /// When one was last heard of.
    pub seen: Option<Moment>,
    /// Whether that is as it should be.
    pub tone: Tone,
}

/// The job queue at a glance.
#[derive(Debug, Clone)]
pub struct JobsSummary {
    /// Waiting for a worker.
    pub queued: Count,
    /// Leased to a worker.
    pub running: Count,
    /// Given up, waiting for a person.
    pub failed: Count,
    /// Done in the last hour.
    pub done: Count,
    /// Jobs done over time.
    pub throughput: Sparkline,
    /// The same by type.
    pub types: Vec<JobTypeRow>,
    /// What to read out when it changes, `3 failed jobs`; empty for nothing.
    pub announce: String,
}

/// A line over time, for an SVG of 240 by 40.
#[derive(Debug, Clone)]
pub struct Sparkline {
    /// The `points` of the polyline; empty when there is no line to draw.
    pub points: String,
    /// Its last point.
    pub last: String,
    /// The newest value in words: `88 per minute`.
    pub now: String,
    /// The greatest value.
    pub peak: String,
    /// The time it covers: `last hour`.
    pub span: String,
}

impl Sparkline {
    /// Draws values that are one `unit` apart (`minute`), oldest first, covering `span`.
    pub fn new(values: &[i64], unit: &str, span: impl Into<String>) -> Self {
        let newest = values.last().copied().unwrap_or(0);
        let peak = values.iter().copied().max().unwrap_or(0);
        let points = polyline(values);
        Self {
            last: points.last().cloned().unwrap_or_default(),
            points: points.join(" "),
            now: format!("{}\u{a0}per {unit}", grouped(newest)),
            peak: grouped(peak),
            span: span.into(),
        }
    }
}

/// The jobs of one type.
#[derive(Debug, Clone)]
pub struct JobTypeRow {
    /// The type: `posting.deliver`.
    pub name: String,
    /// The list of its jobs.
    pub href: String,
    /// Waiting for a worker.
    pub queued: Count,
    /// Leased to a worker.
    pub running: Count,
    /// Given up.
    pub failed: Count,
    /// Since when the oldest due one waits.
    pub oldest: Option<Moment>,
    /// Whether that is too long.
    pub late: bool,
}

/// Recent errors, newest first.
#[derive(Debug, Clone)]
pub struct Errors {
    /// The errors.
    pub entries: Vec<ErrorEntry>,
    /// What to read out when it changes; empty for nothing.
    pub announce: String,
}

/// One error.
#[derive(Debug, Clone)]
pub struct ErrorEntry {
    /// Names the row, so that the script can tell new ones.
    pub key: String,
    /// When.
    pub at: Moment,
    /// What reported it: `telegram.sendMessage`.
    pub source: String,
    /// A message a person can act on.
    pub message: String,
    /// Whether Beresta tries again by itself.
    pub retryable: bool,
    /// The input that led to it.
    pub trace: Option<Trace>,
}

/// Journal entries, newest first.
#[derive(Debug, Clone)]
pub struct Journal {
    /// The entries.
    pub entries: Vec<JournalEntry>,
}

/// One journal entry.
#[derive(Debug, Clone)]
pub struct JournalEntry {
    /// Names the row, so that the script can tell new ones.
    pub key: String,
    /// When.
    pub at: Moment,
    /// The module or program part that wrote it: `posting`.
    pub source: String,
    /// What kind of thing happened: `delivery.sent`.
    pub action: String,
    /// What happened, in a sentence.
    pub what: String,
    /// The input that led to it.
    pub trace: Option<Trace>,
}
