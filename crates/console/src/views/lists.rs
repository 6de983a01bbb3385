//! Jobs and the journal.

use askama::Template;

use super::{
    overview::Journal,
    words::{Badge, FilterOption, Moment, Pager, Shell, Trace},
};

/// The list of jobs.
#[derive(Debug, Template)]
#[template(path = "jobs.html")]
pub struct JobsPage {
    /// The frame.
    pub shell: Shell,
    /// The jobs of this page, newest first.
    pub rows: Vec<JobRow>,
    /// The filter by status.
    pub statuses: Vec<FilterOption>,
    /// The filter by type.
    pub types: Vec<FilterOption>,
    /// The way on.
    pub pager: Pager,
}

/// One job in the list.
#[derive(Debug, Clone)]
pub struct JobRow {
    /// Its id.
    pub id: String,
    /// Its page.
    pub href: String,
    /// Its type.
    pub name: String,
    /// Its status.
    pub status: Badge,
    /// When it was created.
    pub created: Moment,
    /// `3 of 8`.
    pub attempts: String,
    /// Its last error, in a line.
    pub error: Option<String>,
    /// The input that led to it.
    pub trace: Option<Trace>,
}

/// One job and all its runs.
#[derive(Debug, Template)]
#[template(path = "job.html")]
pub struct JobPage {
    /// The frame.
    pub shell: Shell,
    /// The job.
    pub job: JobDetails,
    /// Its runs, newest first.
    pub runs: Vec<RunRow>,
}

/// Everything about a job but its runs.
#[derive(Debug, Clone)]
pub struct JobDetails {
    /// Its id.
    pub id: String,
    /// Its type.
    pub name: String,
    /// Its status.
    pub status: Badge,
    /// What that means, in a sentence: `Waits for its third attempt.`
    pub summary: String,
    /// Whether somebody may ask for it again.
    pub can_retry: bool,
    /// The input that led to it.
    pub trace: Option<Trace>,
    /// When it was created.
    pub created: Moment,
    /// When it may run, where that is still to come.
    pub due: Option<Moment>,
    /// `3 of 8`.
    pub attempts: String,
    /// Whatever else is known: queue, key, lease.
    pub facts: Vec<Fact>,
    /// What it was told: indented JSON, redacted.
    pub payload: String,
}

/// A name and a value.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The name.
    pub label: String,
    /// The value.
    pub value: String,
}

/// One run of a job.
#[derive(Debug, Clone)]
pub struct RunRow {
    /// Which attempt, from 1.
    pub attempt: i64,
    /// How it ended, or that it has not.
    pub outcome: Badge,
    /// Who ran it.
    pub worker: String,
    /// When it began.
    pub started: Moment,
    /// When it ended.
    pub finished: Option<Moment>,
    /// How long it took: `212 ms`.
    pub took: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
}

/// The journal.
#[derive(Debug, Template)]
#[template(path = "journal.html")]
pub struct JournalPage {
    /// The frame.
    pub shell: Shell,
    /// The entries of this page.
    pub journal: Journal,
    /// The action to filter by; empty for any.
    pub action: String,
    /// The actions to suggest.
    pub actions: Vec<String>,
    /// The trace id to filter by; empty for any.
    pub trace_id: String,
    /// The way on.
    pub pager: Pager,
}
