//! From rows to words: what the pages show.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::{SignedDuration, Timestamp};
use platform::{
    DbError,
    http::Ctx,
    reads::{self, COUNT_MAX, JobRead, JobRunRead, JournalFilter, JournalRead},
};
use sqlx::PgConnection;

use crate::{
    Info,
    views::{
        Badge, Count, DatabaseHealth, ErrorEntry, Errors, Health, JobRow, JobTypeRow, JobsSummary, Journal, JournalEntry,
        MigrationHealth, Moment, ProgramHealth, RoleHealth, RunRow, Sparkline, Tone, Trace, query_value, took,
    },
};

const RECENT: i64 = 12;
/// A job that waits longer than this for a worker is shown as late.
const LATE: SignedDuration = SignedDuration::from_secs(60);

pub(crate) async fn health(ctx: &Ctx, info: &Info) -> Health {
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
            Health { verdict, database, migrations, program, roles }
        }
        Err(error) => {
            tracing::warn!(%error, "console.health");
            Health {
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
    let known: usize = info.modules.iter().map(|module| module.migrations.len()).sum();
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

pub(crate) async fn jobs_summary(tx: &mut PgConnection, ctx: &Ctx) -> Result<JobsSummary, DbError> {
    let now = ctx.app.clock().now();
    let counts = reads::job_type_counts(tx).await?;
    let per_minute = reads::succeeded_per_minute(tx).await?;
    let sum = |read: fn(&reads::JobTypeCounts) -> i64| Count::capped(counts.iter().map(read).sum(), COUNT_MAX);
    let failed = sum(|row| row.failed);
    let announce = if failed.is_zero() { String::new() } else { format!("{} failed jobs", failed.text) };
    let types = counts.iter().map(|row| {
        let oldest = row.oldest_due_at.map(jiff_sqlx_to);
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

fn jiff_sqlx_to(at: platform::reads::Time) -> Timestamp {
    at.to_jiff()
}

pub(crate) async fn errors(tx: &mut PgConnection, ctx: &Ctx) -> Result<Errors, DbError> {
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
    Ok(Errors { entries: entries.collect(), announce })
}

pub(crate) async fn recent_journal(tx: &mut PgConnection, ctx: &Ctx) -> Result<Journal, DbError> {
    let rows = reads::journal(tx, &JournalFilter { limit: RECENT, ..JournalFilter::default() }).await?;
    Ok(journal(rows, ctx.app.clock().now()))
}

pub(crate) fn journal(rows: Vec<JournalRead>, now: Timestamp) -> Journal {
    let entries = rows.into_iter().map(|row| JournalEntry {
        key: row.id.to_string(),
        at: Moment::new(row.ts.to_jiff(), now),
        what: describe(&row),
        source: row.source,
        action: row.action,
        trace: row.trace_id.map(Trace::new),
    });
    Journal { entries: entries.collect() }
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

pub(crate) fn status_badge(status: &str) -> Badge {
    let tone = match status {
        "succeeded" => Tone::Good,
        "running" => Tone::Busy,
        "failed" => Tone::Bad,
        "retried" | "lease_expired" => Tone::Warn,
        _ => Tone::Quiet,
    };
    Badge::new(status.replace('_', " "), tone)
}

pub(crate) fn job_row(job: JobRead, now: Timestamp) -> JobRow {
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

pub(crate) fn run_row(run: JobRunRead, now: Timestamp) -> RunRow {
    let ended = run.ts.to_jiff();
    let started = run.started_at.map_or(ended, jiff_sqlx_to);
    let elapsed = u64::try_from(ended.duration_since(started).as_millis()).unwrap_or(0);
    RunRow {
        attempt: i64::from(run.attempt),
        outcome: status_badge(&run.outcome),
        worker: run.worker_id.unwrap_or_else(|| "–".to_owned()),
        started: Moment::new(started, now),
        finished: Some(Moment::new(ended, now)),
        took: Some(took(elapsed)),
        error: run.error.as_ref().map(error_message),
    }
}

pub(crate) fn error_message(error: &serde_json::Value) -> String {
    error["message"].as_str().map_or_else(|| error.to_string(), ToOwned::to_owned)
}

/// What each region or topic would show, as a number that changes with it: health, jobs, errors, journal, posting,
/// shopbot, actions, planner.
pub(crate) async fn fingerprints(ctx: &Ctx, info: &Info) -> [u64; 8] {
    let health = health(ctx, info).await;
    let mut prints = [1; 8];
    prints[0] = print(&(
        health.verdict.label,
        health.migrations.pending,
        health.roles.iter().map(|role| role.running).collect::<Vec<_>>(),
    ));
    if let Ok(mut tx) = ctx.begin().await {
        if let Ok(counts) = reads::job_type_counts(&mut tx).await {
            let rows: Vec<_> = counts.iter().map(|row| (row.queued, row.running, row.failed)).collect();
            prints[1] = print(&(rows, reads::last_job_id(&mut tx).await.unwrap_or(0)));
        }
        if let Ok(errors) = reads::errors(&mut tx, 1).await {
            prints[2] = print(&errors.first().map(|row| row.id));
        }
        if let Ok(rows) = reads::journal(&mut tx, &JournalFilter { limit: 1, ..JournalFilter::default() }).await {
            prints[3] = print(&rows.first().map(|row| row.id));
        }
        if let Ok(pulse) = crate::posting::pulse(&mut tx).await {
            prints[4] = print(&pulse);
        }
        if let Ok(pulse) = crate::shopbot::pulse(&mut tx).await {
            prints[5] = print(&pulse);
        }
        if let Ok(pulse) = crate::actions::pulse(&mut tx).await {
            prints[6] = print(&pulse);
        }
        if let Ok(pulse) = crate::planner::pulse(&mut tx).await {
            prints[7] = print(&pulse);
        }
    }
    prints
}

fn print(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    // Zero means "not looked yet".
    hasher.finish().max(1)
}
