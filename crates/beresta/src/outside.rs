//! The ways out of this process: the messengers and the fetcher, made once from the configuration.

use anyhow::{Context, Result};
use messengers::{Max, Messenger, Telegram};
use outbound::{Client, FetchSettings, Fetcher};
use platform::{http::App, secrets::Secrets};
use posting::{
    alerts::{Mail, Teller},
    dispatcher::{Credentials, Tools},
};

use crate::config::Config;

#[derive(Clone)]
pub(crate) struct Outside {
    pub(crate) telegram: Messenger,
    pub(crate) max: Messenger,
    pub(crate) fetcher: Fetcher,
    pub(crate) credentials: Credentials,
    /// The tokens of the bots.
    secrets: Secrets,
}

impl Outside {
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let client = |name: &str| -> Result<(Client, String)> {
            let provider =
                config.providers.iter().find(|provider| provider.name == name).context("every provider is configured")?;
            let settings = outbound::Settings { ca_bundle: provider.ca_bundle.clone(), ..outbound::Settings::default() };
            Ok((Client::new(&settings)?, provider.base_url.clone()))
        };
        let (telegram, telegram_url) = client("telegram")?;
        let (max, max_url) = client("max")?;
        let fetcher = Fetcher::new(FetchSettings { allow: config.fetch_allow.clone(), ..FetchSettings::default() })?;
        Ok(Self {
            telegram: Messenger::Telegram(Telegram::new(telegram, &telegram_url)),
            max: Messenger::Max(Max::new(max, &max_url)),
            fetcher,
            credentials: Credentials::default(),
            secrets: Secrets::default(),
        })
    }

    pub(crate) fn teller(&self, app: &App, mail: Option<Mail>) -> Teller {
        Teller { db: app.db.clone(), telegram: self.telegram.clone(), credentials: self.credentials.clone(), mail }
    }

    pub(crate) fn bot_teller(&self, app: &App) -> shopbot::alerts::Teller {
        shopbot::alerts::Teller {
            db: app.db.clone(),
            telegram: self.telegram.clone(),
            max: self.max.clone(),
            secrets: self.secrets.clone(),
        }
    }

    pub(crate) fn sender_tools(&self, app: &App) -> shopbot::sender::Tools {
        shopbot::sender::Tools {
            db: app.db.clone(),
            telegram: self.telegram.clone(),
            max: self.max.clone(),
            secrets: self.secrets.clone(),
        }
    }

    pub(crate) fn tools(&self, app: &App) -> Tools {
        Tools {
            db: app.db.clone(),
            telegram: self.telegram.clone(),
            max: self.max.clone(),
            objects: app.objects.clone(),
            fetcher: self.fetcher.clone(),
            credentials: self.credentials.clone(),
        }
    }
}
