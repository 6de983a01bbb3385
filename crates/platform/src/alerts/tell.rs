//! The job that tells one target of one alert, in words that name every subject, the reason and where to look.
//!
//! How a message leaves is the binary's to know: it implements [`AlertSender`].

use std::{fmt, fmt::Write, sync::Arc};

use futures::future::BoxFuture;
use jiff::Timestamp;
use kernel::redact;
use serde::Deserialize;

use super::{AlertSource, CHECK_FAILED};
use crate::{
    Db, DbError,
    jobs::{Job, JobError, JobType, Registry},
    reads::{self, AlertFilter, AlertRead, AlertSubject},
};

pub const JOB_TYPE: &str = "ops.alert";
const AT_ONCE_MAX: usize = 4;
const WHY_CHARS_MAX: usize = 200;

/// Where an alert goes.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct AlertTarget {
    /// `telegram`, `max` or `email`.
    pub kind: String,
    /// A chat, or an e-mail address.
    pub address: String,
    /// Where the token of the bot that sends it is kept.
    pub credential: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertMessage {
    /// For a target that has a line for it, such as e-mail.
    pub subject: String,
    pub text: String,
}

/// Sends one message to one target.
pub trait AlertSender: Send + Sync {
    fn send<'a>(&'a self, target: &'a AlertTarget, message: &'a AlertMessage) -> BoxFuture<'a, Result<(), JobError>>;
}

#[derive(Clone)]
pub struct AlertTeller {
    pub db: Db,
    pub sources: Vec<AlertSource>,
    /// The address of the console, for links; without it a link is only a path.
    pub public_url: Option<String>,
    pub sender: Arc<dyn AlertSender>,
}

impl fmt::Debug for AlertTeller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlertTeller").field("sources", &self.sources).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct AlertPayload {
    module: String,
    alert: String,
    #[serde(flatten)]
    target: AlertTarget,
}

pub fn register(registry: &mut Registry, teller: AlertTeller) {
    registry.register(JobType::new(JOB_TYPE).concurrency(AT_ONCE_MAX), move |job| {
        let teller = teller.clone();
        async move { teller.tell(&job).await }
    });
}

impl AlertTeller {
    async fn tell(&self, job: &Job) -> Result<(), JobError> {
        let AlertPayload { module, alert, target } = job.payload()?;
        let filter = AlertFilter { module: Some(module), alert: Some(alert), is_cleared: false };
        let mut told_at = None;
        // An alert that is over meanwhile is told no more; one that was told again while the message was under way is told as it is now.
        loop {
            let mut tx = self.db.begin(job.workspace_id).await?;
            let workspace: String = sqlx::query_scalar("select name from core.workspaces where workspace_id = $1")
                .bind(job.workspace_id.uuid())
                .fetch_one(&mut *tx)
                .await
                .map_err(DbError::from)?;
            let Some(alert) = reads::alerts(&mut tx, &filter).await?.pop() else { return Ok(()) };
            drop(tx);
            let at = alert.told_at.map(reads::Time::to_jiff);
            if told_at.is_some() && told_at == at {
                return Ok(());
            }
            told_at = at;
            self.sender.send(&target, &self.message(&alert, &workspace)).await?;
        }
    }

    fn message(&self, alert: &AlertRead, workspace: &str) -> AlertMessage {
        let kinds = self.sources.iter().find(|source| source.module == alert.module).map_or(&[][..], |source| source.kinds);
        let kind = kinds.iter().chain([&CHECK_FAILED]).find(|kind| kind.name == alert.alert);
        let name = alert.alert.replace('_', " ");
        let (title, advice, page) = kind.map_or((&*name, "", "/console"), |kind| (kind.title, kind.advice, kind.page));
        let mut text = format!("{workspace}: {title}{}", times(alert.count));
        for subject in &alert.subjects.0 {
            let _ = write!(text, "\n- {}", line(subject));
        }
        let more = alert.subjects_count - i64::try_from(alert.subjects.0.len()).unwrap_or(0);
        if more > 0 {
            let _ = write!(text, "\nand {more} more");
        }
        if !advice.is_empty() {
            let _ = write!(text, "\n{advice}");
        }
        let _ = write!(text, "\n{}{page}", self.public_url.as_deref().unwrap_or_default());
        AlertMessage { subject: format!("Beresta: {title} in {workspace}"), text }
    }
}

/// `news (3): bad gateway, since 2026-03-02 09:00 UTC`
fn line(subject: &AlertSubject) -> String {
    let name = format!("{}{}", subject.subject, times(subject.count));
    let why = subject.why.as_deref().or(subject.sample.as_deref()).map(|why| redact::snippet(why, WHY_CHARS_MAX));
    let what: Vec<String> = [Some(name).filter(|name| !name.is_empty()), why].into_iter().flatten().collect();
    let since: Timestamp = subject.since.unwrap_or(subject.raised_at);
    format!("{}, since {}", what.join(": "), since.strftime("%Y-%m-%d %H:%M UTC"))
}

fn times(count: i64) -> String {
    if count > 1 { format!(" ({count})") } else { String::new() }
}
