//! Alerts: what is wrong now, told to people once, when it grows, and again while nobody has taken it on.
//!
//! A module supplies two SQL functions: `MODULE.find_trouble` says what is wrong and `MODULE.alert_targets` who is told. One whose bots
//! send supplies `MODULE.bot_errors` too, from which the platform finds bots without a token. What to
//! tell and when is decided by `ops.check_alerts`. Here are the loop that looks and, in `tell.rs`, the job that tells one target.

mod tell;

use std::{path::PathBuf, time::Duration};

use kernel::{WorkspaceId, redact};
use tokio_util::sync::CancellationToken;

pub use tell::{AlertMessage, AlertSender, AlertTarget, AlertTeller, JOB_TYPE, register};

use crate::{
    Db, DbError,
    db::{ANSWER_MAX, within},
    wake::Topic,
};

const LOOK_EVERY: Duration = Duration::from_secs(30);
/// PostgreSQL stops when its disk is full, so people have to know before.
const DISK_FREE_BYTES_MIN: u64 = 2 << 30;

/// A module whose `find_trouble` is asked, and how its alerts are worded.
#[derive(Clone, Copy, Debug)]
pub struct AlertSource {
    /// Also the name of the schema that has the module's functions.
    pub module: &'static str,
    pub kinds: &'static [AlertKind],
}

/// How an alert is worded: a kind that has no words is told by its name.
#[derive(Clone, Copy, Debug)]
pub struct AlertKind {
    /// `alert` of the finding.
    pub name: &'static str,
    /// What there is too much of: `paused channels`.
    pub title: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    /// Where the console shows it.
    pub page: &'static str,
}

/// The alerts of the platform itself.
pub const PLATFORM: AlertSource = AlertSource {
    module: "ops",
    kinds: &[
        AlertKind {
            name: "failed_jobs",
            title: "failed jobs",
            advice: "Mend the cause and ask for them again, on the page or with POST /api/jobs/{id}/retry.",
            page: "/console/jobs?status=failed",
        },
        AlertKind {
            name: "bot_without_token",
            title: "bots whose token is missing or refused",
            advice: "What they have to say waits. Put a token where core.bots says; `beresta doctor` names those that cannot be read.",
            page: "/console",
        },
        AlertKind {
            name: "database_fills",
            title: "the database grows",
            advice: "Keep less (docs/operations.md), or raise BERESTA_DATABASE_ALERT_GIGABYTES.",
            page: "/console",
        },
        AlertKind {
            name: "disk_fills",
            title: "the disk of the database is almost full",
            advice: "Free some space now: PostgreSQL stops when there is none.",
            page: "/console",
        },
    ],
};

/// Raised by the look itself, for whichever module could not be looked at.
const CHECK_FAILED: AlertKind = AlertKind {
    name: "check_failed",
    title: "the look for trouble failed",
    advice: "Until it is mended, nothing else is raised or cleared here.",
    page: "/console",
};

/// How large the database may become, and where its disk is.
#[derive(Clone, Debug, Default)]
pub struct StorageLimits {
    /// No alert if absent.
    pub database_bytes_max: Option<u64>,
    /// The directory of an embedded server; absent when the disk is not ours to see.
    pub data_dir: Option<PathBuf>,
}

/// Looks again and again until told to stop. Any number of processes may look: an alert is told once.
pub async fn watch(db: Db, sources: Vec<AlertSource>, limits: StorageLimits, stop: CancellationToken) {
    loop {
        check(&db, &sources, &limits).await;
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// One look at every module; how many alerts were told. A module that cannot be looked at becomes an alert, and the others go on.
pub async fn check(db: &Db, sources: &[AlertSource], limits: &StorageLimits) -> i32 {
    let mut told = 0;
    for source in sources {
        let mut looked = within(ANSWER_MAX, look(db, source.module, limits, None)).await;
        if let Err(error) = &looked {
            tracing::warn!(%error, module = source.module, "alerts.check");
            let failure = redact::snippet(&error.to_string(), 500);
            looked = within(ANSWER_MAX, look(db, source.module, limits, Some(failure))).await;
        }
        told += looked.unwrap_or(0);
    }
    told
}

async fn look(db: &Db, module: &str, limits: &StorageLimits, failure: Option<String>) -> Result<i32, DbError> {
    let free = limits.data_dir.as_deref().and_then(|dir| nix::sys::statvfs::statvfs(dir).ok());
    let free = free.map(|disk| disk.blocks_available() * disk.fragment_size());
    let setting = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut tx = db.begin_system().await?;
    sqlx::query(
        "select set_config('ops.database_bytes_max', $1, true), set_config('ops.disk_free_bytes', $2, true),
                set_config('ops.disk_free_bytes_min', $3, true)",
    )
    .bind(setting(limits.database_bytes_max))
    .bind(setting(free))
    .bind(DISK_FREE_BYTES_MIN.to_string())
    .execute(&mut *tx)
    .await?;
    let (told, cleared): (i32, i32) = sqlx::query_as("select told, cleared from ops.check_alerts($1, $2)")
        .bind(module)
        .bind(failure)
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    if told > 0 {
        db.wake().tell(Topic::JOBS);
    }
    if told + cleared > 0 {
        db.wake().tell(Topic::BUS);
    }
    Ok(told)
}

/// Somebody takes an alert on.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    pub module: &'a str,
    pub alert: &'a str,
    /// All subjects if absent.
    pub subject: Option<&'a str>,
    pub by: &'a str,
    pub reason: &'a str,
}

/// How many subjects that were; none when there is no such alert now.
pub async fn acknowledge(db: &Db, workspace: WorkspaceId, taken: Acknowledgement<'_>) -> Result<i32, DbError> {
    let mut tx = db.begin(workspace).await?;
    let subjects = sqlx::query_scalar("select ops.acknowledge_alert($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(taken.module)
        .bind(taken.alert)
        .bind(taken.subject)
        .bind(taken.by)
        .bind(taken.reason)
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    db.wake().tell(Topic::BUS);
    Ok(subjects)
}
