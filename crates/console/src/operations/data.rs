//! From rows to words: what the pages about the program show.

use jiff::{SignedDuration, Timestamp};
use platform::{
    DbError,
    http::Ctx,
    reads::{self, COUNT_MAX, JobRead, JobRunRead, JournalFilter, JournalRead, Time},
};
use sqlx::PgConnection;

use crate::{
    Info,
    views::{
        Badge, Count, DatabaseHealth, ErrorEntry, Fact, HealthSummary, JobDetails, JobRow, JobRunRow, JobTypeRow, JobsSummary,
        JournalRow, JournalTable, MigrationHealth, Moment, ProgramHealth, RecentErrors, RoleHealth, Sparkline, Tone, Trace,
        query_value, took,
    },
};

const RECENT: i64 = 12;
/// A job that waits longer than this for a worker is shown as late.
const LATE: SignedDuration = SignedDuration::from_secs(60);

pub(super) async fn health(ctx: &Ctx, info: &Info) -> HealthSummary {
    let now = ctx.app.clock().now();
    let program = ProgramHealth {
        badge: if ctx.app.stop.is_cancelled() { Badge::new("Stopping", Tone::Warn) } else { Badge::new("Serving", Tone::Good) },
        version: info.version.to_owned(),
        started: Moment::new(info.started_at, now),
    };
    match database_health(ctx, info, now).await {
        Ok((database, migrations, roles)) => {
            let verdict = if migrations.pending > 0 {
                Badge::new("Migrations wait", Tone::Warn)
            } else {
                Badge::new("All is well", Tone::Good)
            };
            HealthSummary { verdict, database, migrations, program, roles }
        }
        Err(error) => {
            tracing::warn!(%error, "console.health");
            HealthSummary {
                verdict: Badge::new("The database does not answer", Tone::Bad),
                database: DatabaseHealth {
                    badge: Badge::new("Down", Tone::Bad),
                    latency: None,
                    version: "PostgreSQL".to_owned(),
                    place: info.database_place.clone(),
                },
                migrations: MigrationHealth {
                    badge: Badge::new("Unknown", Tone::Quiet),
                    applied: 0,
                    pending: 0,
                    latest: "–".to_owned(),
                },
                program,
                roles: Vec::new(),
            }
        }
    }
}

async fn database_health(
    ctx: &Ctx,
    info: &Info,
    now: Timestamp,
) -> Result<(DatabaseHealth, MigrationHealth, Vec<RoleHealth>), DbError> {
    let latency = ctx.app.db.ping().await?;
    let mut tx = ctx.begin().await?;
    let (version, vector): (String, Option<String>) = sqlx::query_as(
        "select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector')",
    )
    .fetch_one(&mut *tx)
    .await?;
    let (applied, latest): (i64, Option<String>) =
        sqlx::query_as("select count(*), max(module || '/' || name) from platform.migrations").fetch_one(&mut *tx).await?;
    let known: usize = info.modules.iter().map(|module| module.sql.migrations.len()).sum();
    let pending = i64::try_from(known).unwrap_or(0).saturating_sub(applied).max(0);
    let processes = reads::processes(&mut tx).await?;
    let roles = ["api", "dispatcher", "runner", "monitor"].map(|name| {
        let having = processes.iter().filter(|process| process.roles.iter().any(|role| role == name));
        let seen = having.clone().map(|process| process.seen_at.to_jiff()).max();
        let running = i64::try_from(having.count()).unwrap_or(0);
        RoleHealth {
            name: name.to_owned(),
            running,
            seen: seen.map(|at| Moment::new(at, now)),
            tone: if running > 0 { Tone::Good } else { Tone::Warn },
        }
    });
    let database = DatabaseHealth {
        badge: Badge::new("Up", Tone::Good),
        latency: Some(format!("{:.1}\u{a0}ms", latency.as_secs_f64() * 1000.0)),
        version: format!("PostgreSQL {version}, pgvector {}", vector.unwrap_or_else(|| "missing".to_owned())),
        place: info.database_place.clone(),
    };
    let badge =
        if pending == 0 { Badge::new("Current", Tone::Good) } else { Badge::new(format!("{pending} pending"), Tone::Warn) };
    let migrations = MigrationHealth { badge, applied, pending, latest: latest.unwrap_or_else(|| "–".to_owned()) };
    Ok((database, migrations, roles.into()))
}

pub(super) async fn jobs_summary(tx: &mut PgConnection, ctx: &Ctx) -> Result<JobsSummary, DbError> {
    let now = ctx.app.clock().now();
    let counts = reads::job_type_counts(tx).await?;
    let per_minute = reads::succeeded_per_minute(tx).await?;
    let sum = |read: fn(&reads::JobTypeCounts) -> i64| Count::capped(counts.iter().map(read).sum(), COUNT_MAX);
    let failed = sum(|row| row.failed);
    let announce = if failed.is_zero() { String::new() } else { format!("{} failed jobs", failed.text) };
    let types = counts.iter().map(|row| {
        let oldest = row.oldest_due_at.map(Time::to_jiff);
        JobTypeRow {
            name: row.job_type.clone(),
            href: format!("/console/jobs?type={}", query_value(&row.job_type)),
            queued: Count::capped(row.queued, COUNT_MAX),
            running: Count::capped(row.running, COUNT_MAX),
            failed: Count::capped(row.failed, COUNT_MAX),
            late: oldest.is_some_and(|at| now.duration_since(at) > LATE),
            oldest: oldest.map(|at| Moment::new(at, now)),
        }
    });
    Ok(JobsSummary {
        queued: sum(|row| row.queued),
        running: sum(|row| row.running),
        failed,
        done: Count::exact(per_minute.iter().sum()),
        throughput: Sparkline::new(&per_minute, "minute", "last hour"),
        types: types.collect(),
        announce,
    })
}

pub(super) async fn errors(tx: &mut PgConnection, ctx: &Ctx) -> Result<RecentErrors, DbError> {
    let now = ctx.app.clock().now();
    let rows = reads::errors(tx, RECENT).await?;
    let announce = rows.first().map(|row| row.message.clone()).unwrap_or_default();
    let entries = rows.into_iter().map(|row| ErrorEntry {
        key: row.id.to_string(),
        at: Moment::new(row.ts.to_jiff(), now),
        source: row.op.map_or(row.source.clone(), |op| format!("{}: {op}", row.source)),
        message: row.message,
        retryable: row.retryable,
        trace: row.trace_id.map(Trace::new),
    });
    Ok(RecentErrors { entries: entries.collect(), announce })
}

pub(super) async fn recent_journal(tx: &mut PgConnection, ctx: &Ctx) -> Result<JournalTable, DbError> {
    let rows = reads::journal(tx, &JournalFilter { limit: RECENT, ..JournalFilter::default() }).await?;
    Ok(journal(rows, ctx.app.clock().now()))
}

pub(super) fn journal(rows: Vec<JournalRead>, now: Timestamp) -> JournalTable {
    let entries = rows.into_iter().map(|row| JournalRow {
        key: row.id.to_string(),
        at: Moment::new(row.ts.to_jiff(), now),
        what: describe(&row),
        source: row.source,
        action: row.action,
        trace: row.trace_id.map(Trace::new),
    });
    JournalTable { entries: entries.collect() }
}

/// The subject and the data of an entry in one line.
fn describe(row: &JournalRead) -> String {
    let mut words: Vec<String> = row.subject.iter().cloned().collect();
    for (key, value) in row.data.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        words.push(format!("{}: {}", key.replace('_', " "), kernel::redact::snippet(&value, 120)));
    }
    words.join(" · ")
}

fn status_badge(status: &str) -> Badge {
    let tone = match status {
        "succeeded" => Tone::Good,
        "running" => Tone::Busy,
        "failed" => Tone::Bad,
        "retried" | "lease_expired" => Tone::Warn,
        _ => Tone::Quiet,
    };
    Badge::new(status.replace('_', " "), tone)
}

pub(super) fn job_row(job: JobRead, now: Timestamp) -> JobRow {
    JobRow {
        id: job.id.to_string(),
        href: format!("/console/jobs/{}", job.id),
        status: status_badge(&job.status),
        created: Moment::new(job.created_at.to_jiff(), now),
        attempts: format!("{} of {}", job.attempts, job.attempts_max),
        error: job.last_error.as_ref().map(error_message),
        trace: job.trace_id.map(Trace::new),
        name: job.job_type,
    }
}

/// A job that waits, runs or has failed, or one that is done and of which only the runs are left; none if there are no runs either.
pub(super) fn job(id: i64, job: Option<JobRead>, runs: Vec<JobRunRead>, csrf: String, now: Timestamp) -> Option<JobDetails> {
    let mut details = match (job, runs.first()) {
        (Some(job), _) => waiting_job(job, now),
        (None, Some(last)) => JobDetails {
            id: id.to_string(),
            name: last.job_type.clone(),
            status: status_badge(&last.outcome),
            summary: "It is done. Its runs are kept; what it was told went with it.".to_owned(),
            can_retry: false,
            csrf: String::new(),
            trace: last.trace_id.clone().map(Trace::new),
            created: Moment::new(runs.last().and_then(|run| run.started_at).unwrap_or(last.ts).to_jiff(), now),
            due: None,
            attempts: runs.len().to_string(),
            facts: Vec::new(),
            payload: String::new(),
            runs: Vec::new(),
        },
        (None, None) => return None,
    };
    details.csrf = csrf;
    details.runs = runs.into_iter().map(|run| run_row(run, now)).collect();
    Some(details)
}

fn waiting_job(job: JobRead, now: Timestamp) -> JobDetails {
    let mut payload = job.payload;
    kernel::redact::redact_json(&mut payload);
    let facts = [
        ("Key", job.dedup_key),
        ("Worker", job.worker_id),
        ("Lease until", job.leased_until.map(|at| at.to_jiff().to_string())),
        ("Last error", job.last_error.as_ref().map(error_message)),
    ];
    let summary = match job.status.as_str() {
        "queued" => "It waits for a worker.",
        "running" => "A worker has it under a lease.",
        _ => "It was given up; somebody has to look at the reason and may ask for it again.",
    };
    JobDetails {
        id: job.id.to_string(),
        name: job.job_type,
        status: status_badge(&job.status),
        summary: summary.to_owned(),
        can_retry: job.status == "failed",
        csrf: String::new(),
        trace: job.trace_id.map(Trace::new),
        created: Moment::new(job.created_at.to_jiff(), now),
        due: job.next_run_at.map(|at| Moment::new(at.to_jiff(), now)),
        attempts: format!("{} of {}", job.attempts, job.attempts_max),
        facts: facts.into_iter().filter_map(|(label, value)| Some(Fact::new(label, value?))).collect(),
        payload: serde_json::to_string_pretty(&payload).unwrap_or_default(),
        runs: Vec::new(),
    }
}

fn run_row(run: JobRunRead, now: Timestamp) -> JobRunRow {
    let ended = run.ts.to_jiff();
    let started = run.started_at.map_or(ended, Time::to_jiff);
    let elapsed = u64::try_from(ended.duration_since(started).as_millis()).unwrap_or(0);
    JobRunRow {
        attempt: i64::from(run.attempt),
        outcome: status_badge(&run.outcome),
        worker: run.worker_id.unwrap_or_else(|| "–".to_owned()),
        started: Moment::new(started, now),
        finished: Moment::new(ended, now),
        took: took(elapsed),
        error: run.error.as_ref().map(error_message),
    }
}

fn error_message(error: &serde_json::Value) -> String {
    error["message"].as_str().map_or_else(|| error.to_string(), ToOwned::to_owned)
}
