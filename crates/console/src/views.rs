//! What the pages show: one struct per template, holding words and numbers that are ready to print.
//!
//! Nothing here asks the database or the clock. A page that lives inside the console has a [`Shell`] named `shell`,
//! which `layout.html` prints. A live region has a template of its own under `templates/fragments/`: the page includes
//! it, and a `…Fragment` struct renders it alone, from a field of the same name.

use std::fmt;

use askama::Template;
use jiff::Timestamp;

// ---------------------------------------------------------------- words that every page uses

/// The frame around a page: who looks, and where they can go.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The name of the workspace that the token belongs to.
    pub workspace: String,
    /// The navigation, in order; each module adds its own.
    pub nav: Vec<NavItem>,
    /// The server's time, RFC 3339; the script corrects the browser's clock by it.
    pub now: String,
    /// The token that every form of the console sends back as `csrf`.
    pub csrf: String,
}

/// One entry of the navigation.
#[derive(Debug, Clone)]
pub struct NavItem {
    /// Where it leads.
    pub href: String,
    /// What it says.
    pub label: String,
    /// Whether the current page belongs to it.
    pub active: bool,
}

/// How a state feels. It becomes a class name, which gives the colour and the shape of the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Finished well, or healthy.
    Good,
    /// At work right now.
    Busy,
    /// Will mend itself, or wants a look.
    Warn,
    /// Needs a person.
    Bad,
    /// Waiting; nothing to say.
    Quiet,
}

impl fmt::Display for Tone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::Busy => "busy",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Quiet => "quiet",
        })
    }
}

/// A word with a tone.
#[derive(Debug, Clone)]
pub struct Badge {
    /// The word.
    pub label: String,
    /// How it feels.
    pub tone: Tone,
}

impl Badge {
    /// A badge of `label` in `tone`.
    pub fn new(label: impl Into<String>, tone: Tone) -> Self {
        Self { label: label.into(), tone }
    }
}

/// A number of things, which the query may have stopped counting.
#[derive(Debug, Clone)]
pub struct Count {
    /// The number as counted.
    pub value: i64,
    /// The number as printed: `7 412`, or `10 000+` where counting stopped.
    pub text: String,
}

impl Count {
    /// A number that was counted to the end.
    pub fn exact(value: i64) -> Self {
        Self { value, text: grouped(value) }
    }

    /// A number whose query stops at `cap + 1`.
    pub fn capped(value: i64, cap: i64) -> Self {
        if value > cap {
            let text = format!("{}+", grouped(cap));
            Self { value, text }
        } else {
            Self::exact(value)
        }
    }

    /// Whether there is nothing, which is printed softly.
    pub fn is_zero(&self) -> bool {
        self.value == 0
    }
}

/// A moment, told from the time of rendering. The script keeps telling it in the same words.
#[derive(Debug, Clone)]
pub struct Moment {
    /// RFC 3339, for the `datetime` attribute.
    pub iso: String,
    /// Date and time in UTC, for the tooltip.
    pub exact: String,
    /// The distance alone: `42 s`. For `<time data-age>`.
    pub age: String,
    /// The distance and its direction: `42 s ago`, `in 42 s`, `now`. For `<time data-ago>`.
    pub ago: String,
}

impl Moment {
    /// Tells `at` from `now`.
    pub fn new(at: Timestamp, now: Timestamp) -> Self {
        let seconds = now.duration_since(at).as_secs();
        let age = age(seconds.unsigned_abs());
        let ago = match seconds {
            0 => "now".to_owned(),
            1.. => format!("{age} ago"),
            _ => format!("in {age}"),
        };
        Self { iso: at.to_string(), exact: at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(), age, ago }
    }
}

/// A trace id, short enough for a table, that leads to everything it caused.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The whole id.
    pub id: String,
    /// Its last eight characters: the first ones of a time-ordered id are alike.
    pub short: String,
    /// The journal, filtered by it.
    pub href: String,
}

impl Trace {
    /// The trace of `id`.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        let skipped = id.chars().count().saturating_sub(8);
        Self { short: id.chars().skip(skipped).collect(), href: format!("/console/journal?trace_id={}", query_value(&id)), id }
    }
}

/// One choice of a filter.
#[derive(Debug, Clone)]
pub struct FilterOption {
    /// What the form sends; empty means any.
    pub value: String,
    /// What it says.
    pub label: String,
    /// Whether it is chosen.
    pub selected: bool,
}

/// The way through a list that is read by key, newest first.
#[derive(Debug, Clone)]
pub struct Pager {
    /// The first page, where this is another one.
    pub first_href: Option<String>,
    /// The page of older rows, where there are any.
    pub next_href: Option<String>,
    /// How much is on this page: `50 jobs`.
    pub shown: String,
}

// ---------------------------------------------------------------- the overview and its live regions

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

// ---------------------------------------------------------------- jobs and the journal

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

// ---------------------------------------------------------------- pages that stand alone

/// The way in.
#[derive(Debug, Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    /// The path to show afterwards; the server accepts only its own.
    pub next: String,
    /// Why the last try failed, and what to do.
    pub error: Option<String>,
    /// The command that makes a token.
    pub command: String,
}

/// A page that could not be shown.
#[derive(Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// The HTTP status.
    pub status: u16,
    /// What it is, in a few words: `No such page`.
    pub title: String,
    /// What happened.
    pub message: String,
    /// What to do now.
    pub advice: String,
    /// What to give to whoever looks into it.
    pub trace_id: Option<String>,
}

// ---------------------------------------------------------------- how things are written

/// A distance in time, in its largest whole unit: `59 s`, `3 min`, `47 h`, `2 d`. The script says the same.
pub fn age(seconds: u64) -> String {
    let (unit, word) = match seconds {
        0..60 => (1, "s"),
        60..3600 => (60, "min"),
        3600..172_800 => (3600, "h"),
        _ => (86_400, "d"),
    };
    format!("{}\u{a0}{word}", seconds / unit)
}

/// How long something took: `212 ms`, `4.1 s`, `3 min`.
pub fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds}\u{a0}ms"),
        1000..60_000 => format!("{}.{}\u{a0}s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => age(milliseconds / 1000),
    }
}

/// A number with its thousands apart, by a narrow space that does not break: `10 000`.
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    if value < 0 {
        text.push('\u{2212}');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A value as it is written in the query of an address.
pub fn query_value(value: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push(char::from(HEX[usize::from(byte >> 4)]));
            text.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    text
}

/// Points of a line through `values` in a box of 240 by 40, zero on the ground. One value makes no line.
fn polyline(values: &[i64]) -> Vec<String> {
    if values.len() < 2 {
        return Vec::new();
    }
    let top = values.iter().copied().max().unwrap_or(0).max(1);
    let steps = values.len() - 1;
    let tenths = |n: i64| format!("{}.{}", n / 10, n % 10);
    (0..)
        .zip(values)
        .map(|(index, &value)| {
            let across = i64::try_from(index * 2400 / steps).unwrap_or(0);
            let down = 390 - value.clamp(0, top).saturating_mul(370) / top;
            format!("{},{}", tenths(across), tenths(down))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    fn moment(seconds_ago: i64) -> Moment {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(500_000);
        Moment::new(now - SignedDuration::from_secs(seconds_ago), now)
    }

    #[test]
    fn a_moment_is_told_in_its_largest_whole_unit_and_direction() {
        let told = |seconds| moment(seconds).ago;
        assert_eq!(told(0), "now");
        assert_eq!(told(59), "59\u{a0}s ago");
        assert_eq!(told(60), "1\u{a0}min ago");
        assert_eq!(told(-90), "in 1\u{a0}min");
        assert_eq!(told(47 * 3600), "47\u{a0}h ago");
        assert_eq!(told(48 * 3600), "2\u{a0}d ago");
    }

    #[test]
    fn a_capped_count_says_that_counting_stopped() {
        assert_eq!(Count::capped(10_001, 10_000).text, "10\u{202f}000+");
        assert_eq!(Count::capped(10_000, 10_000).text, "10\u{202f}000");
        assert_eq!(Count::exact(-1_234_567).text, "\u{2212}1\u{202f}234\u{202f}567");
        assert!(Count::exact(0).is_zero());
    }

    #[test]
    fn a_sparkline_stands_on_the_ground_and_reaches_the_top() {
        let line = Sparkline::new(&[0, 5, 10], "minute", "last hour");
        assert_eq!(line.points, "0.0,39.0 120.0,20.5 240.0,2.0");
        assert_eq!(line.last, "240.0,2.0");
        assert_eq!(Sparkline::new(&[7], "minute", "last hour").points, "");
    }

    #[test]
    fn a_duration_is_written_in_the_unit_that_fits() {
        assert_eq!(took(212), "212\u{a0}ms");
        assert_eq!(took(4120), "4.1\u{a0}s");
        assert_eq!(took(180_000), "3\u{a0}min");
    }

    #[test]
    fn a_trace_leads_to_the_journal_whatever_its_characters() {
        let trace = Trace::new("a b&c=д");
        assert_eq!(trace.href, "/console/journal?trace_id=a%20b%26c%3D%D0%B4");
        assert_eq!(Trace::new("0198f3c2-7a1e-7122-9a02-3f04c145eb04").short, "c145eb04");
    }

    #[test]
    fn what_users_wrote_is_printed_as_text() {
        let entry = ErrorEntry {
            key: "1".to_owned(),
            at: moment(5),
            source: "telegram.sendMessage".to_owned(),
            message: "<script>alert('1')</script>".to_owned(),
            retryable: true,
            trace: Some(Trace::new("\"><b>")),
        };
        let errors = Errors { entries: vec![entry], announce: String::new() };
        let html = ErrorsFragment { errors }.render().unwrap();
        assert!(html.contains(r#"data-fragment="errors""#));
        assert!(!html.contains("<script") && !html.contains("<b>"));
    }

    #[test]
    fn a_page_has_no_inline_script_and_no_inline_style() {
        let page = SignInPage {
            next: "/console".to_owned(),
            error: Some("This token is not known.".to_owned()),
            command: "beresta token create --workspace demo --scope console".to_owned(),
        };
        let html = page.render().unwrap();
        assert!(!html.contains("style=") && !html.contains("<style") && !html.contains("<script>"));
        assert!(html.contains("This token is not known."));
    }
}
