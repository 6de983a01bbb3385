//! How alerts leave this process: through the messengers, and by e-mail.

use futures::{FutureExt, future::BoxFuture};
use kernel::{AdapterError, Category, Secret};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor, message::Mailbox,
    transport::smtp::authentication::Credentials as Login,
};
use messengers::{Channel, Messengers, Meta};
use platform::{
    alerts::{AlertMessage, AlertSender, AlertTarget},
    jobs::JobError,
    secrets::Secrets,
};

/// How e-mail leaves, if it does.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    /// `smtp://host:port` or `smtps://host:port`.
    pub(crate) url: String,
    pub(crate) from: String,
    pub(crate) login: Option<(String, Secret)>,
}

pub(crate) struct MessengersAndMail {
    pub(crate) messengers: Messengers,
    pub(crate) secrets: Secrets,
    pub(crate) mail: Option<Mail>,
}

impl AlertSender for MessengersAndMail {
    fn send<'a>(&'a self, target: &'a AlertTarget, message: &'a AlertMessage) -> BoxFuture<'a, Result<(), JobError>> {
        async move {
            match target.kind.as_str() {
                "email" => self.send_mail(&target.address, message).await,
                provider => self.send_text(provider, target, &message.text).await,
            }
        }
        .boxed()
    }
}

impl MessengersAndMail {
    async fn send_text(&self, provider: &str, target: &AlertTarget, text: &str) -> Result<(), JobError> {
        let missing = || JobError::fail("the bot that tells alerts has no credential: add a row to posting.credential_bindings");
        let messenger = self.messengers.of(provider).map_err(|error| job_error(&error))?;
        let reference = target.credential.as_deref().ok_or_else(missing)?;
        // Somebody will mend it, and the alert is worth the wait.
        let token = self.secrets.find(reference).await.map_err(JobError::retry)?;
        let channel = Channel { target_id: target.address.clone(), token };
        let sent = messenger.send_text(&channel, text, &Meta { disable_preview: true, ..Meta::default() }).await;
        sent.map(drop).map_err(|error| job_error(&error))
    }

    async fn send_mail(&self, to: &str, message: &AlertMessage) -> Result<(), JobError> {
        let mail = self.mail.as_ref().ok_or_else(|| JobError::fail("no mail server is configured: set BERESTA_SMTP_URL"))?;
        let address =
            |text: &str| text.parse::<Mailbox>().map_err(|_| JobError::fail(format!("`{text}` is not an e-mail address")));
        let letter = Message::builder()
            .from(address(&mail.from)?)
            .to(address(to)?)
            .subject(&message.subject)
            .body(message.text.clone())
            .map_err(|error| JobError::fail(error.to_string()))?;
        let mut transport =
            AsyncSmtpTransport::<Tokio1Executor>::from_url(&mail.url).map_err(|error| JobError::fail(error.to_string()))?;
        if let Some((user, password)) = &mail.login {
            transport = transport.credentials(Login::new(user.clone(), password.expose().to_owned()));
        }
        transport.build().send(letter).await.map(drop).map_err(|error| {
            if error.is_permanent() { JobError::fail(error.to_string()) } else { JobError::retry(error.to_string()) }
        })
    }
}

fn job_error(error: &AdapterError) -> JobError {
    match error.category {
        Category::Transient => JobError::retry(error.to_string()),
        Category::Permanent => JobError::fail(error.to_string()),
    }
}
