//! Telling people: an alert goes to the workspace's admin chat in Telegram, through the adapter that posts go through, or
//! by e-mail. What to tell, and how often, is decided by `posting.check_alerts`.

use kernel::{AdapterError, Category, Secret};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor, message::Mailbox,
    transport::smtp::authentication::Credentials as Login,
};
use messengers::{Channel, Messenger, Meta};
use platform::{
    Db,
    jobs::{Job, JobError, JobType, Registry},
};
use serde::Deserialize;

use crate::dispatcher::Credentials;

pub const JOB_TYPE: &str = "posting.alert";

/// How e-mail leaves, if it does.
#[derive(Clone, Debug)]
pub struct Mail {
    /// `smtp://host:port` or `smtps://host:port`.
    pub url: String,
    pub from: String,
    pub login: Option<(String, Secret)>,
}

#[derive(Clone, Debug)]
pub struct Teller {
    pub db: Db,
    pub telegram: Messenger,
    pub credentials: Credentials,
    pub mail: Option<Mail>,
}

#[derive(Debug, Deserialize)]
struct Alert {
    #[serde(rename = "alert")]
    kind: String,
    count: i64,
    sample: Option<String>,
    workspace: String,
}

#[derive(Debug, sqlx::FromRow)]
struct Readers {
    chat_id: Option<String>,
    auth_ref: Option<String>,
    email: Option<String>,
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
        let query = "select (p).alert_telegram_chat_id as chat_id, (p).alert_telegram_auth_ref as auth_ref, (p).alert_email as email from posting.policy($1) p";
        let readers: Readers = sqlx::query_as(query)
            .bind(job.workspace_id.uuid())
            .fetch_one(self.db.pool())
            .await
            .map_err(platform::DbError::from)?;
        let text = words(&alert);
        if let (Some(chat), Some(auth_ref)) = (readers.chat_id, readers.auth_ref) {
            return self.tell_telegram(job, &chat, &auth_ref, &text).await.map_err(|error| job_error(&error));
        }
        match readers.email {
            Some(to) => self.tell_by_mail(&to, &alert, &text).await,
            None => Ok(()),
        }
    }

    async fn tell_telegram(&self, job: &Job, chat: &str, auth_ref: &str, text: &str) -> Result<(), AdapterError> {
        let token = self.credentials.find(&self.db, job.workspace_id.uuid(), auth_ref, "telegram").await?;
        let channel = Channel { target_id: chat.to_owned(), token };
        self.telegram.send_text(&channel, text, &Meta { disable_preview: true, ..Meta::default() }).await.map(drop)
    }

    async fn tell_by_mail(&self, to: &str, alert: &Alert, text: &str) -> Result<(), JobError> {
        let mail = self.mail.as_ref().ok_or_else(|| JobError::fail("no mail server is configured: set BERESTA_SMTP_URL"))?;
        let address =
            |text: &str| text.parse::<Mailbox>().map_err(|_| JobError::fail(format!("`{text}` is not an e-mail address")));
        let message = Message::builder()
            .from(address(&mail.from)?)
            .to(address(to)?)
            .subject(format!("Beresta: {} in {}", alert.kind.replace('_', " "), alert.workspace))
            .body(text.to_owned())
            .map_err(|error| JobError::fail(error.to_string()))?;
        let mut transport =
            AsyncSmtpTransport::<Tokio1Executor>::from_url(&mail.url).map_err(|error| JobError::fail(error.to_string()))?;
        if let Some((user, password)) = &mail.login {
            transport = transport.credentials(Login::new(user.clone(), password.expose().to_owned()));
        }
        transport.build().send(message).await.map(drop).map_err(|error| {
            if error.is_permanent() { JobError::fail(error.to_string()) } else { JobError::retry(error.to_string()) }
        })
    }
}

fn words(alert: &Alert) -> String {
    let sample = alert.sample.as_deref().map(|sample| format!(" (for example {sample})")).unwrap_or_default();
    let (count, workspace) = (alert.count, &alert.workspace);
    match alert.kind.as_str() {
        "dead_letters" => format!(
            "{workspace}: {count} deliveries are dead after their last attempt{sample}. `beresta ops requeue-dead` sends them again."
        ),
        "failures" => format!(
            "{workspace}: {count} deliveries failed for good in the last ten minutes{sample}. `beresta ops errors` says why."
        ),
        "paused_channels" => format!("{workspace}: {count} channels are paused{sample}. They are probed again by themselves."),
        "disabled_channels" => format!(
            "{workspace}: {count} channels were disabled after failing again and again{sample}. `beresta ops enable` brings one back."
        ),
        other => format!("{workspace}: {} — {count}{sample}.", other.replace('_', " ")),
    }
}

fn job_error(error: &AdapterError) -> JobError {
    match error.category {
        Category::Transient => JobError::retry(error.to_string()),
        Category::Permanent => JobError::fail(error.to_string()),
    }
}
