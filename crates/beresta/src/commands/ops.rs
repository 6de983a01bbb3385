//! `beresta ops`: the runbook, against the running system.
//!
//! Rows go to standard output, what was done and what to do next to standard error.

pub(crate) mod args;
pub(crate) mod show;

use std::{process::ExitCode, time::Duration};

use anyhow::{Error, Result, bail};
use args::{
    Acknowledge, Author, Common, Errors, Group, OneChannel, OpsCommand, Pause, ReleaseStale, Requeue, RotateAuth, Settle,
};
use jiff::Timestamp;
use kernel::WorkspaceId;
use platform::{
    DbError,
    alerts::{self, Acknowledgement},
    embedded::Use,
    reads::{self, AlertFilter, Time},
    workspaces,
};
use posting::ops::{self, By, ChannelAfter, ErrorEvent, Mode, Requeued, Verdict, Which};
use serde_json::{Value, json};
use show::show;

use super::progress;
use crate::database::Database;

const CHANNEL: &[&str] = &["channel_id", "platform", "rate_group", "enabled", "paused_until", "error_streak"];

pub(crate) async fn run(command: OpsCommand) -> Result<ExitCode> {
    match command {
        OpsCommand::Alerts(common) => show_alerts(&common).await?,
        OpsCommand::Acknowledge(args) => acknowledge(&args).await?,
        OpsCommand::Snapshot(common) => snapshot(&common).await?,
        OpsCommand::Errors(errors) => show_errors(&errors).await?,
        OpsCommand::RequeueDead(requeue) => requeue_dead(&requeue).await?,
        OpsCommand::RequeueFailed(requeue) => requeue_failed(&requeue).await?,
        OpsCommand::Pause(args) => pause(&args).await?,
        OpsCommand::Enable(args) => enable(&args).await?,
        OpsCommand::DisableGroup(group) => disable_group(&group).await?,
        OpsCommand::EnableGroup(group) => enable_group(&group).await?,
        OpsCommand::RotateAuth(args) => rotate_auth(&args).await?,
        OpsCommand::ReleaseStale(args) => release_stale(&args).await?,
        OpsCommand::Settle(args) => settle(&args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The database and the workspace that a command is about.
struct OpsScene {
    database: Database,
    workspace: WorkspaceId,
}

impl OpsScene {
    async fn open(common: &Common) -> Result<Self> {
        let database = Database::open(&common.place.config()?, Use::Share, progress).await?;
        let workspace = workspaces::find(&database.db, &common.workspace).await?.id();
        Ok(Self { database, workspace })
    }

    /// Dispatchers in other processes hear of it before this one ends.
    async fn close(self) {
        self.database.db.wake().flush().await;
    }
}

fn by(author: &Author) -> By<'_> {
    By { operator: &author.operator, reason: &author.reason }
}

/// A refusal in its own words, with what to do about it.
fn told(error: DbError) -> Error {
    match error {
        DbError::Refused { message, hint: Some(hint), .. } => Error::msg(format!("{message}; {hint}")),
        other => other.into(),
    }
}

async fn show_alerts(common: &Common) -> Result<()> {
    let scene = OpsScene::open(common).await?;
    let mut tx = scene.database.db.begin(scene.workspace).await?;
    let alerts = reads::alerts(&mut tx, &AlertFilter::default()).await?;
    if alerts.is_empty() {
        progress("nothing is wrong");
    }
    let mut rows = Vec::new();
    for alert in &alerts {
        let mut row = serde_json::to_value(alert)?;
        if !common.json {
            let names: Vec<&str> =
                alert.subjects.iter().map(|subject| &*subject.subject).filter(|name| !name.is_empty()).collect();
            row["subjects"] = names.join(", ").into();
        }
        rows.push(row);
    }
    show(&rows, &["module", "alert", "count", "raised_at", "acknowledged_by", "subjects"], common.json)
}

async fn acknowledge(args: &Acknowledge) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let taken = Acknowledgement {
        module: &args.module,
        alert: &args.alert,
        subject: args.subject.as_deref(),
        by: &args.author.operator,
        reason: &args.author.reason,
    };
    let subjects = alerts::acknowledge(&scene.database.db, scene.workspace, taken).await.map_err(told)?;
    if subjects == 0 {
        bail!("there is no such alert now; `beresta ops alerts` lists them");
    }
    progress(&format!("acknowledged {subjects}"));
    scene.close().await;
    Ok(())
}

async fn snapshot(common: &Common) -> Result<()> {
    let scene = OpsScene::open(common).await?;
    let rows = ops::snapshot(&scene.database.db, scene.workspace).await.map_err(told)?;
    if rows.is_empty() {
        progress("there are no deliveries yet");
    }
    let rows: Vec<_> = rows
        .iter()
        .map(|row| json!({ "workspace_id": scene.workspace, "status": row.status, "deliveries": row.deliveries }))
        .collect();
    show(&rows, &["status", "deliveries"], common.json)
}

async fn show_errors(args: &Errors) -> Result<()> {
    let scene = OpsScene::open(&args.common).await?;
    let within = Duration::from_mins(args.minutes.into());
    let rows = ops::errors(&scene.database.db, scene.workspace, within, args.limit.into()).await.map_err(told)?;
    if rows.is_empty() {
        progress(&format!("nothing broke in the last {} minutes", args.minutes));
    }
    let rows: Vec<_> = rows.iter().map(|row| error_row(row, args.common.json)).collect();
    show(&rows, &["ts", "action", "channel_id", "delivery_id", "attempt", "details"], args.common.json)
}

fn error_row(row: &ErrorEvent, is_json: bool) -> Value {
    let mut shown = json!({
        "ts": row.ts.to_jiff(), "action": row.action, "result": row.result, "channel_id": row.channel_id,
        "delivery_id": row.delivery_id, "attempt": row.attempt, "error": row.error, "meta": row.meta,
    });
    if !is_json {
        shown["details"] = row.error.as_ref().map_or_else(|| row.meta.to_string(), error_words).into();
    }
    shown
}

/// An error in one line: what kind, and in whose words.
fn error_words(error: &Value) -> String {
    let part = |key: &str| error[key].as_str();
    let kind = [part("category"), part("scope"), part("code")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    match part("message") {
        Some(message) => format!("{kind}: {message}"),
        None => kind,
    }
}

async fn requeue_dead(args: &Requeue) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let (which, mode) = chosen(args);
    let rows = ops::requeue_dead(&scene.database.db, scene.workspace, by(&args.author), which, mode).await.map_err(told)?;
    requeued(scene, args, mode, &rows, "dead").await
}

async fn requeue_failed(args: &Requeue) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let (which, mode) = chosen(args);
    let rows = ops::requeue_failed(&scene.database.db, scene.workspace, by(&args.author), which, mode).await.map_err(told)?;
    requeued(scene, args, mode, &rows, "failed").await
}

fn chosen(args: &Requeue) -> (Which<'_>, Mode) {
    match (args.all, args.yes) {
        (false, _) => (Which::Named(&args.deliveries), Mode::Apply),
        (true, true) => (Which::All, Mode::Apply),
        (true, false) => (Which::All, Mode::Preview),
    }
}

async fn requeued(scene: OpsScene, args: &Requeue, mode: Mode, rows: &[Requeued], kind: &str) -> Result<()> {
    if mode == Mode::Preview && !rows.is_empty() {
        bail!("{} {kind}; nothing was changed: add --yes to requeue", deliveries(rows.len()));
    }
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "delivery_id": row.delivery_id, "message_id": row.message_id, "channel_id": row.channel_id, "attempt": row.attempt,
            })
        })
        .collect();
    show(&shown, &["delivery_id", "channel_id", "attempt"], args.author.common.json)?;
    progress(&format!("requeued {}", rows.len()));
    scene.close().await;
    Ok(())
}

async fn pause(args: &Pause) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let duration = Duration::from_secs(args.seconds.into());
    let channel =
        ops::pause(&scene.database.db, scene.workspace, by(&args.author), &args.channel, duration).await.map_err(told)?;
    channels(scene, &args.author.common, &[channel], "paused").await
}

async fn enable(args: &OneChannel) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let channel = ops::enable(&scene.database.db, scene.workspace, by(&args.author), &args.channel).await.map_err(told)?;
    channels(scene, &args.author.common, &[channel], "enabled").await
}

async fn disable_group(args: &Group) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let rows = ops::disable_group(&scene.database.db, scene.workspace, by(&args.author), &args.group).await.map_err(told)?;
    channels(scene, &args.author.common, &rows, "disabled").await
}

async fn enable_group(args: &Group) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let rows = ops::enable_group(&scene.database.db, scene.workspace, by(&args.author), &args.group).await.map_err(told)?;
    channels(scene, &args.author.common, &rows, "enabled").await
}

async fn channels(scene: OpsScene, common: &Common, rows: &[ChannelAfter], done: &str) -> Result<()> {
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "channel_id": row.channel_id, "platform": row.platform, "rate_group": row.rate_group, "enabled": row.enabled,
                "paused_until": row.paused_until.map(Time::to_jiff), "error_streak": row.error_streak,
            })
        })
        .collect();
    show(&shown, CHANNEL, common.json)?;
    progress(&format!("{done} {}", rows.len()));
    scene.close().await;
    Ok(())
}

async fn rotate_auth(args: &RotateAuth) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let author = by(&args.author);
    let rotated =
        ops::rotate_auth(&scene.database.db, scene.workspace, author, &args.channel, &args.auth_ref, args.group.as_deref())
            .await
            .map_err(told)?;
    let paused_until = rotated.paused_until.map(Time::to_jiff).filter(|at| *at > Timestamp::now());
    let row = json!({
        "channel_id": args.channel, "old_auth_ref": rotated.old_auth_ref, "auth_ref": rotated.auth_ref,
        "rate_group": rotated.rate_group, "paused_until": paused_until,
    });
    let columns = ["channel_id", "old_auth_ref", "auth_ref", "rate_group", "paused_until"];
    show(&[row], &columns, args.author.common.json)?;
    if paused_until.is_some() {
        progress(&format!("the channel is still paused; `beresta ops enable --channel {}` ends that now", args.channel));
    }
    scene.close().await;
    Ok(())
}

async fn release_stale(args: &ReleaseStale) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let mode = if args.yes { Mode::Apply } else { Mode::Preview };
    let age = Duration::from_mins(args.minutes.into());
    let rows = ops::release_stale(&scene.database.db, scene.workspace, by(&args.author), age, mode).await.map_err(told)?;
    if mode == Mode::Preview && !rows.is_empty() {
        let count = deliveries(rows.len());
        bail!("{count} held for over {} minutes; nothing was changed: add --yes to release", args.minutes);
    }
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "delivery_id": row.delivery_id, "message_id": row.message_id, "channel_id": row.channel_id, "attempt": row.attempt,
                "from_status": row.from_status, "status": row.status,
            })
        })
        .collect();
    show(&shown, &["delivery_id", "channel_id", "attempt", "from_status", "status"], args.author.common.json)?;
    progress(&format!("released {}", rows.len()));
    scene.close().await;
    Ok(())
}

async fn settle(args: &Settle) -> Result<()> {
    let scene = OpsScene::open(&args.author.common).await?;
    let verdict = if args.delivered {
        Verdict::Delivered { provider_message_id: args.provider_message_id.as_deref() }
    } else {
        Verdict::Resend
    };
    let status =
        ops::settle(&scene.database.db, scene.workspace, by(&args.author), args.delivery, verdict).await.map_err(told)?;
    let row = json!({ "delivery_id": args.delivery, "status": status });
    show(&[row], &["delivery_id", "status"], args.author.common.json)?;
    scene.close().await;
    Ok(())
}

fn deliveries(count: usize) -> String {
    if count == 1 { "1 delivery".into() } else { format!("{count} deliveries") }
}
