//! The overview, jobs and the journal.

use askama::Template;

use super::{
    parts::{Badge, Count, Fact, Moment, Pager, Tone, Trace, html_safe},
    write::{grouped, polyline},
};

html_safe!(JournalTable, RecentErrors);

/// The first page: is it well, what is it doing, what went wrong, what happened.
#[derive(Debug, Template)]
#[template(path = "overview.html")]
pub struct OverviewRegion {
    pub workspace: String,
    pub health: HealthSummary,
    pub jobs: JobsSummary,
    pub errors: RecentErrors,
    pub journal: JournalTable,
}

/// The state of the parts that everything stands on.
#[derive(Debug, Clone)]
pub struct HealthSummary {
    /// The whole in a few words: `All is well`. Read out when it changes.
    pub verdict: Badge,
    pub database: DatabaseHealth,
    pub migrations: MigrationHealth,
    pub program: ProgramHealth,
    pub roles: Vec<RoleHealth>,
}

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
    pub applied: i64,
    pub pending: i64,
    /// The name of the newest applied one.
    pub latest: String,
}

#[derive(Debug, Clone)]
pub struct ProgramHealth {
    /// `Serving` or `Stopping`.
    pub badge: Badge,
    pub version: String,
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
    pub tone: Tone,
}

/// The job queue at a glance.
#[derive(Debug, Clone)]
pub struct JobsSummary {
    pub queued: Count,
    pub running: Count,
    /// Given up, waiting for a person.
    pub failed: Count,
    /// Done in the last hour.
    pub done: Count,
    pub throughput: Sparkline,
    pub types: Vec<JobTypeRow>,
    pub announce: String,
}

/// A line over time, for an SVG of 240 by 40.
#[derive(Debug, Clone)]
pub struct Sparkline {
    /// The `points` of the polyline; empty when there is no line to draw.
    pub points: String,
    pub last: String,
    /// The newest value in words: `88 per minute`.
    pub now: String,
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

#[derive(Debug, Clone)]
pub struct JobTypeRow {
    pub name: String,
    /// The list of its jobs.
    pub href: String,
    pub queued: Count,
    pub running: Count,
    pub failed: Count,
    /// Since when the oldest due one waits.
    pub oldest: Option<Moment>,
    /// Whether that is too long.
    pub late: bool,
}

/// Newest first.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/errors.html")]
pub struct RecentErrors {
    pub entries: Vec<ErrorEntry>,
    pub announce: String,
}

#[derive(Debug, Clone)]
pub struct ErrorEntry {
    /// Names the row, so that the script can tell new ones.
    pub key: String,
    pub at: Moment,
    /// What reported it: `telegram.sendMessage`.
    pub source: String,
    pub message: String,
    /// Whether Beresta tries again by itself.
    pub retryable: bool,
    pub trace: Option<Trace>,
}

/// Newest first.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/journal_table.html")]
pub struct JournalTable {
    pub entries: Vec<JournalRow>,
}

#[derive(Debug, Clone)]
pub struct JournalRow {
    pub key: String,
    pub at: Moment,
    pub source: String,
    pub action: String,
    /// The subject and the data, in a line.
    pub what: String,
    pub trace: Option<Trace>,
}

#[derive(Debug, Template)]
#[template(path = "journal.html")]
pub struct JournalRegion {
    pub journal: JournalTable,
    pub pager: Pager,
}

#[derive(Debug, Template)]
#[template(path = "jobs.html")]
pub struct JobsRegion {
    pub rows: Vec<JobRow>,
    pub pager: Pager,
}

#[derive(Debug, Clone)]
pub struct JobRow {
    pub id: String,
    pub href: String,
    /// Its type.
    pub name: String,
    pub status: Badge,
    pub created: Moment,
    /// `3 of 8`.
    pub attempts: String,
    pub error: Option<String>,
    pub trace: Option<Trace>,
}

#[derive(Debug, Template)]
#[template(path = "job.html")]
pub struct JobDetails {
    pub id: String,
    /// Its type.
    pub name: String,
    pub status: Badge,
    /// What that means, in a sentence.
    pub summary: String,
    /// Whether a person may ask for it again.
    pub can_retry: bool,
    /// The token that the form sends back.
    pub csrf: String,
    pub trace: Option<Trace>,
    pub created: Moment,
    /// When it may run, where that is still to come.
    pub due: Option<Moment>,
    /// `3 of 8`.
    pub attempts: String,
    pub facts: Vec<Fact>,
    /// Indented JSON, redacted.
    pub payload: String,
    /// Newest first.
    pub runs: Vec<JobRunRow>,
}

#[derive(Debug, Clone)]
pub struct JobRunRow {
    /// From 1.
    pub attempt: i64,
    pub outcome: Badge,
    pub worker: String,
    pub started: Moment,
    pub finished: Moment,
    /// `212 ms`.
    pub took: String,
    pub error: Option<String>,
}
