//! The ways out of this process: the messengers and the fetcher, made once from the configuration.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use extract::{ExtractLimits, Extractor};
use knowledge::Knowledge;
use messengers::{Max, Messengers, Telegram};
use outbound::{Client, FetchSettings, Fetcher};
use platform::{Db, http::App, objects::Objects, secrets::Secrets};
use posting::dispatcher::{Credentials, Deliveries};
use shopbot::sender::Answers;
use webhooks::{
    manage::{Desk, SecretFiles},
    sender::WebhookDeliveries,
};

use crate::{alerts::MessengersAndMail, answering::AnswersInChats, config::Config, models::Models};

/// The hidden command that reads one foreign file and ends.
pub(crate) const EXTRACT_COMMAND: &str = "extract-child";

#[derive(Clone)]
pub(crate) struct Outside {
    pub(crate) messengers: Messengers,
    pub(crate) fetcher: Fetcher,
    pub(crate) credentials: Credentials,
    /// The same rules with the limits of webhooks.
    webhook_fetcher: Fetcher,
    /// The tokens of the bots, and the secrets of webhooks.
    pub(crate) secrets: Secrets,
    models: Models,
    membership_proof_max: Duration,
    extractor: Extractor,
}

impl Outside {
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let client = |name: &str| -> Result<(Client, String)> {
            let provider =
                config.providers.iter().find(|provider| provider.name == name).context("every provider is configured")?;
            let settings =
                outbound::ClientSettings { ca_bundle: provider.ca_bundle.clone(), ..outbound::ClientSettings::default() };
            Ok((Client::new(&settings)?, provider.base_url.clone()))
        };
        let (telegram, telegram_url) = client("telegram")?;
        let (max, max_url) = client("max")?;
        let program = std::env::current_exe().context("the path of this program is not known")?;
        let fetcher = Fetcher::new(FetchSettings { allow: config.fetch_allow.clone(), ..FetchSettings::default() })?;
        Ok(Self {
            messengers: Messengers::new(Telegram::new(telegram, &telegram_url), Max::new(max, &max_url)),
            fetcher,
            credentials: Credentials::default(),
            webhook_fetcher: webhooks::sender::fetcher(config.fetch_allow.clone())?,
            secrets: Secrets::default(),
            models: config.models.clone(),
            membership_proof_max: config.membership_proof_max,
            extractor: Extractor::new(program, vec![EXTRACT_COMMAND.to_owned()], ExtractLimits::default()),
        })
    }

    pub(crate) fn alert_sender(&self, config: &Config) -> MessengersAndMail {
        MessengersAndMail { messengers: self.messengers.clone(), secrets: self.secrets.clone(), mail: config.mail.clone() }
    }

    pub(crate) fn answers(&self, app: &App) -> Answers {
        Answers { db: app.db.clone(), messengers: self.messengers.clone(), secrets: self.secrets.clone() }
    }

    pub(crate) fn knowledge(&self, db: &Db, objects: &Objects) -> Knowledge {
        Knowledge {
            db: db.clone(),
            objects: objects.clone(),
            messengers: self.messengers.clone(),
            secrets: self.secrets.clone(),
            fetcher: self.fetcher.clone(),
            extractor: self.extractor.clone(),
            embedder: self.models.embedder.clone(),
            transcriber: self.models.transcriber.clone(),
            answerer: self.models.answerer.clone(),
            activity: Arc::new(AnswersInChats { db: db.clone() }),
            membership_proof_max: self.membership_proof_max,
        }
    }

    pub(crate) fn webhook_deliveries(&self, app: &App) -> WebhookDeliveries {
        WebhookDeliveries { db: app.db.clone(), fetcher: self.webhook_fetcher.clone(), secrets: self.secrets.clone() }
    }

    pub(crate) fn webhook_desk(&self, db: &Db, config: &Config) -> Desk {
        let files = SecretFiles { dir: config.data_dir.join("webhook-secrets") };
        Desk { db: db.clone(), fetcher: self.webhook_fetcher.clone(), files }
    }

    pub(crate) fn deliveries(&self, app: &App) -> Deliveries {
        Deliveries {
            db: app.db.clone(),
            messengers: self.messengers.clone(),
            objects: app.objects.clone(),
            fetcher: self.fetcher.clone(),
            credentials: self.credentials.clone(),
        }
    }
}
