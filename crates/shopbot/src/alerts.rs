//! Telling people: an alert goes to the chat that a bot names for it, through the bot itself. What to tell, and how often,
//! is decided by `shopbot.check_alerts`; a bot that cannot send at all shows its alert in the console and the journal.

use kernel::{AdapterError, Category};
use messengers::{Channel, Messenger, Meta};
use platform::{
    Db, DbError,
    jobs::{Job, JobError, JobType, Registry},
    secrets::Secrets,
};
use serde::Deserialize;

use crate::tokens;

pub const JOB_TYPE: &str = "shopbot.alert";

#[derive(Clone, Debug)]
pub struct Teller {
    pub db: Db,
    pub telegram: Messenger,
    pub max: Messenger,
    pub secrets: Secrets,
}

#[derive(Debug, Deserialize)]
struct Alert {
    provider: String,
    #[serde(rename = "alert")]
    kind: String,
    details: Details,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    messages: i64,
    errors: i64,
    count: i64,
    sample: Option<String>,
}

pub fn register(registry: &mut Registry, teller: Teller) {
    registry.register(JobType::new(JOB_TYPE).concurrency(2), move |job| {
        let teller = teller.clone();
        async move { teller.tell(&job).await }
    });
}

impl Teller {
    async fn tell(&self, job: &Job) -> Result<(), JobError> {
        let alert: Alert = job.payload()?;
        let query = "select b.alert_chat_id, b.secret_ref, w.name from shopbot.bots b join core.workspaces w using (workspace_id)
                      where b.workspace_id = $1 and b.provider = $2 and b.alert_chat_id is not null";
        let reader: Option<(String, String, String)> = sqlx::query_as(query)
            .bind(job.workspace_id.uuid())
            .bind(&alert.provider)
            .fetch_optional(self.db.pool())
            .await
            .map_err(DbError::from)?;
        let Some((chat, reference, workspace)) = reader else { return Ok(()) };
        let token = tokens::find(&self.secrets, &reference).map_err(|error| job_error(&error))?;
        let messenger = if alert.provider == "max" { &self.max } else { &self.telegram };
        let channel = Channel { target_id: chat, token };
        let sent = messenger.send_text(&channel, &words(&alert, &workspace), &Meta::default()).await;
        sent.map(drop).map_err(|error| job_error(&error))
    }
}

fn words(alert: &Alert, workspace: &str) -> String {
    let Details { messages, errors, count, sample } = &alert.details;
    let sample = sample.as_deref().map(|sample| format!(" (for example {sample})")).unwrap_or_default();
    let provider = &alert.provider;
    match alert.kind.as_str() {
        "error_rate" => format!(
            "{workspace}: of {messages} messages to the {provider} bot in the last 15 minutes, {errors} went wrong. The console says how."
        ),
        "late_answers" => format!(
            "{workspace}: {count} answers of the {provider} bot have waited for more than five minutes{sample}. Check its token and the provider."
        ),
        other => format!("{workspace}: trouble with the {provider} bot: {}{sample}.", other.replace('_', " ")),
    }
}

fn job_error(error: &AdapterError) -> JobError {
    match error.category {
        Category::Transient => JobError::retry(error.to_string()),
        Category::Permanent => JobError::fail(error.to_string()),
    }
}
