//! `beresta webhook`: programs that are told of events.
//!
//! Rows go to standard output, what was done and what to do next to standard error.

pub(crate) mod args;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, Result, bail};
use args::{AddArgs, Doer, LogArgs, OneWebhook, PauseArgs, RemoveArgs, ResendArgs, RotateArgs, WebhookCommand};
use kernel::{Secret, WorkspaceId};
use platform::{embedded::Use, workspaces};
use serde_json::{Value, json};
use uuid::Uuid;
use webhooks::{
    manage::{Desk, NewSubscription, WithSecret},
    reads::{self, SubscriptionRead, WebhookDeliveryFilter, WebhookDeliveryRead},
    signature,
};

use super::{
    ops::{args::Common, show::show},
    progress,
};
use crate::{database::Database, outside::Outside};

const SUBSCRIPTION: &[&str] = &["name", "status", "events", "url", "delivered", "failures", "stopped_why"];
const DELIVERY: &[&str] = &["delivery_id", "created_at", "subscription", "event_type", "status", "attempt", "answer"];
/// A receiver has a quarter of a minute for its answer, and a server that was idle looks every few seconds.
const WAIT_FOR_TEST: Duration = Duration::from_secs(25);

pub(crate) async fn run(command: WebhookCommand) -> Result<ExitCode> {
    match command {
        WebhookCommand::Add(args) => add(&args).await?,
        WebhookCommand::List(common) => list(&common).await?,
        WebhookCommand::Events { json, place } => {
            let database = Database::open(&place.config()?, Use::Share, progress).await?;
            let rows: Vec<Value> = reads::event_types(database.db.pool()).await?.iter().map(|row| json!(row)).collect();
            show(&rows, &["event_type", "about"], json)?;
        }
        WebhookCommand::Test(args) => return test(&args).await,
        WebhookCommand::Log(args) => log(&args).await?,
        WebhookCommand::Resend(args) => resend(&args).await?,
        WebhookCommand::Pause(args) => pause(&args).await?,
        WebhookCommand::Enable(args) => enable(&args).await?,
        WebhookCommand::Rotate(args) => rotate(&args).await?,
        WebhookCommand::Remove(args) => remove(&args).await?,
        WebhookCommand::Secret => println!("{}", signature::new_secret().expose()),
    }
    Ok(ExitCode::SUCCESS)
}

/// The database, the workspace that a command is about, and what changes are made with.
struct WebhookScene {
    database: Database,
    workspace: WorkspaceId,
    desk: Desk,
}

impl WebhookScene {
    async fn open(common: &Common) -> Result<Self> {
        let config = common.place.config()?;
        let database = Database::open(&config, Use::Share, progress).await?;
        let workspace = workspaces::find(&database.db, &common.workspace).await?.id();
        let desk = Outside::new(&config)?.webhook_desk(&database.db, &config);
        Ok(Self { database, workspace, desk })
    }

    async fn delivery(&self, id: Uuid) -> Result<WebhookDeliveryRead> {
        let found = reads::delivery(&mut *self.database.db.begin(self.workspace).await?, id).await?;
        Ok(found.context("the delivery is gone")?.0)
    }

    /// Senders in other processes hear of it before this one ends.
    async fn close(self) {
        self.database.db.wake().flush().await;
    }
}

async fn add(args: &AddArgs) -> Result<()> {
    let scene = WebhookScene::open(&args.doer.common).await?;
    let new = NewSubscription { name: &args.name, url: &args.url, events: &args.events, secret_ref: args.secret_ref.as_deref() };
    let added = scene.desk.add(scene.workspace, &new, &args.doer.operator).await?;
    show_with_secret(&added, args.doer.common.json)?;
    progress(&format!("`beresta webhook test {}` sends it a first event", args.name));
    scene.close().await;
    Ok(())
}

async fn rotate(args: &RotateArgs) -> Result<()> {
    let scene = WebhookScene::open(&args.doer.common).await?;
    let overlap = Duration::from_hours(args.hours.into());
    let secret_ref = args.secret_ref.as_deref();
    let rotated = scene.desk.rotate(scene.workspace, &args.webhook, secret_ref, overlap, &args.doer.operator).await?;
    show_with_secret(&rotated, args.doer.common.json)?;
    progress(&format!("the secret before it signs too for {} hours", args.hours));
    scene.close().await;
    Ok(())
}

fn show_with_secret(made: &WithSecret, is_json: bool) -> Result<()> {
    let secret = made.secret.as_ref().map(Secret::expose);
    if is_json {
        let mut row = json!(made.subscription);
        row["secret"] = json!(secret);
        println!("{}", serde_json::to_string_pretty(&row)?);
    } else {
        show(&[json!(made.subscription)], SUBSCRIPTION, false)?;
        if let Some(secret) = secret {
            println!("{secret}");
            progress("the receiver verifies with this secret; keep it now: it is not shown again");
        }
    }
    if let Some(warning) = &made.warning {
        progress(warning);
    }
    Ok(())
}

async fn list(common: &Common) -> Result<()> {
    let scene = WebhookScene::open(common).await?;
    let rows = reads::subscriptions(&mut *scene.database.db.begin(scene.workspace).await?).await?;
    if rows.is_empty() {
        progress("there are no webhooks yet: `beresta webhook add` adds one");
    }
    let rows: Vec<Value> = rows.iter().map(|row| json!(row)).collect();
    show(&rows, SUBSCRIPTION, common.json)
}

/// Ends well only if the event arrived.
async fn test(args: &OneWebhook) -> Result<ExitCode> {
    let common = &args.doer.common;
    let scene = WebhookScene::open(common).await?;
    let id = scene.desk.test(scene.workspace, &args.webhook, &args.doer.operator).await?;
    scene.database.db.wake().flush().await;
    let started = std::time::Instant::now();
    let delivery = loop {
        let delivery = scene.delivery(id).await?;
        let is_tried = delivery.last_ms.is_some() || delivery.last_error.is_some();
        if is_tried || started.elapsed() > WAIT_FOR_TEST {
            break delivery;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    show(&[delivery_row(&delivery, common.json)], DELIVERY, common.json)?;
    match delivery.status.as_str() {
        "delivered" => return Ok(ExitCode::SUCCESS),
        "queued" => progress("no sender has taken it yet; does a server with the role `dispatcher` run?"),
        _ => progress("it did not arrive; it is tried again as any other event"),
    }
    Ok(ExitCode::FAILURE)
}

async fn log(args: &LogArgs) -> Result<()> {
    let scene = WebhookScene::open(&args.common).await?;
    if let Some(status) = &args.status
        && !reads::STATUSES.contains(&status.as_str())
    {
        bail!("`{status}` is not a status; they are {}", reads::STATUSES.join(", "));
    }
    let mut tx = scene.database.db.begin(scene.workspace).await?;
    let subscription_id = match &args.webhook {
        None => None,
        Some(wanted) => {
            let all = reads::subscriptions(&mut tx).await?;
            let is_it = |row: &&SubscriptionRead| row.name == *wanted || row.subscription_id.to_string() == *wanted;
            let found = all.iter().find(is_it).with_context(|| format!("there is no webhook `{wanted}`"))?;
            Some(found.subscription_id)
        }
    };
    let filter = WebhookDeliveryFilter {
        subscription_id,
        status: args.status.clone(),
        event_type: args.event.clone(),
        before: None,
        limit: args.limit.into(),
    };
    let page = reads::deliveries(&mut tx, &filter).await?;
    if page.deliveries.is_empty() {
        progress("there are no such deliveries");
    }
    let rows: Vec<Value> = page.deliveries.iter().map(|row| delivery_row(row, args.common.json)).collect();
    show(&rows, DELIVERY, args.common.json)
}

fn delivery_row(delivery: &WebhookDeliveryRead, is_json: bool) -> Value {
    let mut row = json!(delivery);
    if !is_json {
        let status = delivery.last_status.map(|status| format!("{status} in {} ms", delivery.last_ms.unwrap_or_default()));
        let words = delivery.last_error.as_ref().or(delivery.last_answer.as_ref()).filter(|words| !words.is_empty()).cloned();
        row["answer"] = json!([status, words].into_iter().flatten().collect::<Vec<_>>().join(": "));
    }
    row
}

async fn resend(args: &ResendArgs) -> Result<()> {
    let scene = WebhookScene::open(&args.doer.common).await?;
    let id = scene.desk.resend(scene.workspace, args.delivery, &args.doer.operator).await?;
    let is_json = args.doer.common.json;
    show(&[delivery_row(&scene.delivery(id).await?, is_json)], DELIVERY, is_json)?;
    scene.close().await;
    Ok(())
}

async fn pause(args: &PauseArgs) -> Result<()> {
    let scene = WebhookScene::open(&args.doer.common).await?;
    let paused = scene.desk.pause(scene.workspace, &args.webhook, &args.reason, &args.doer.operator).await?;
    changed(scene, &args.doer, &paused).await
}

async fn enable(args: &OneWebhook) -> Result<()> {
    let scene = WebhookScene::open(&args.doer.common).await?;
    let enabled = scene.desk.enable(scene.workspace, &args.webhook, &args.doer.operator).await?;
    changed(scene, &args.doer, &enabled).await
}

async fn changed(scene: WebhookScene, doer: &Doer, subscription: &SubscriptionRead) -> Result<()> {
    show(&[json!(subscription)], SUBSCRIPTION, doer.common.json)?;
    scene.close().await;
    Ok(())
}

async fn remove(args: &RemoveArgs) -> Result<()> {
    if !args.yes {
        bail!("nothing was changed: add --yes to remove `{}` and what waits for it", args.webhook);
    }
    let scene = WebhookScene::open(&args.doer.common).await?;
    let subscription_id = scene.desk.remove(scene.workspace, &args.webhook, &args.doer.operator).await?;
    show(
        &[json!({ "subscription_id": subscription_id, "removed": true })],
        &["subscription_id", "removed"],
        args.doer.common.json,
    )?;
    scene.close().await;
    Ok(())
}
