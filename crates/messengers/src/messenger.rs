//! The messengers by one name. An enum rather than a trait object: there are two of them, and both are known here.

use kernel::{AdapterError, ErrorKind, Secret};

use crate::answer::{self, of_channel};
use crate::{Channel, Max, Media, Meta, Sent, Telegram, Uploaded};

/// The names of the providers, as tables, settings and addresses write them.
pub const PROVIDERS: [&str; 2] = ["telegram", "max"];

/// The messengers of this installation, by the names of their providers.
#[derive(Clone, Debug)]
pub struct Messengers {
    telegram: Messenger,
    max: Messenger,
}

impl Messengers {
    pub const fn new(telegram: Telegram, max: Max) -> Self {
        Self { telegram: Messenger::Telegram(telegram), max: Messenger::Max(max) }
    }

    /// What only Telegram has: files, members, and how updates come.
    pub fn telegram(&self) -> Option<&Telegram> {
        match &self.telegram {
            Messenger::Telegram(telegram) => Some(telegram),
            Messenger::Max(_) => None,
        }
    }

    /// The messenger of a provider. A name that is not in [`PROVIDERS`] is an error of the channel that has it.
    pub fn of(&self, provider: &str) -> Result<&Messenger, AdapterError> {
        match provider {
            "telegram" => Ok(&self.telegram),
            "max" => Ok(&self.max),
            _ => {
                let message = format!("there is no messenger `{provider}`; there are: {}", PROVIDERS.join(", "));
                Err(answer::refused(of_channel(ErrorKind::Invalid), "provider_unknown", &message))
            }
        }
    }
}

/// Cheap to clone: the connections are shared.
#[derive(Clone, Debug)]
pub enum Messenger {
    Telegram(Telegram),
    Max(Max),
}

impl Messenger {
    pub async fn send_text(&self, channel: &Channel, text: &str, meta: &Meta) -> Result<Sent, AdapterError> {
        match self {
            Self::Telegram(telegram) => telegram.send_text(channel, text, meta).await,
            Self::Max(max) => max.send_text(channel, text, meta).await,
        }
    }

    /// Sends one message, or one album. What does not fit into one is the caller's to split.
    ///
    /// `text` stands with the whole; nothing is lost beside it: a caption of an item follows it where items have none
    /// of their own. An album on Telegram has no buttons, so buttons are refused there as `validation_failed`.
    pub async fn send_media(
        &self,
        channel: &Channel,
        media: &[Media],
        text: Option<&str>,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        match self {
            Self::Telegram(telegram) => telegram.send_media(channel, media, text, meta).await,
            Self::Max(max) => max.send_media(channel, media, text, meta).await,
        }
    }

    /// Gives the provider the bytes ahead of the message, so that a retry of the message need not. Nothing when there is
    /// nothing to give, or when the provider takes bytes only inside a message, as Telegram does.
    pub async fn upload(&self, channel: &Channel, media: &Media) -> Result<Option<Uploaded>, AdapterError> {
        match self {
            Self::Telegram(_) => Ok(None),
            Self::Max(max) => max.upload(channel, media).await,
        }
    }

    /// Replaces the text and the buttons of a message without media. An edit that changes nothing is a success.
    pub async fn edit_text(
        &self,
        channel: &Channel,
        provider_message_id: &str,
        text: &str,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        match self {
            Self::Telegram(telegram) => telegram.edit_text(channel, provider_message_id, text, meta).await,
            Self::Max(max) => max.edit_text(channel, provider_message_id, text, meta).await,
        }
    }

    /// Replaces the text of a message with media, and keeps the media. Telegram replaces the buttons too; MAX keeps
    /// them, because its buttons are attachments like the media.
    pub async fn edit_caption(
        &self,
        channel: &Channel,
        provider_message_id: &str,
        text: &str,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        match self {
            Self::Telegram(telegram) => telegram.edit_caption(channel, provider_message_id, text, meta).await,
            Self::Max(max) => max.edit_caption(channel, provider_message_id, text, meta).await,
        }
    }

    /// Deletes a message. One that is already gone is a success.
    pub async fn delete(&self, channel: &Channel, provider_message_id: &str) -> Result<(), AdapterError> {
        match self {
            Self::Telegram(telegram) => telegram.delete(channel, provider_message_id).await,
            Self::Max(max) => max.delete(channel, provider_message_id).await,
        }
    }

    /// Tells the provider that a pressed button was heard. MAX has no such wait: its way to answer a press would show a notice
    /// or change the message.
    pub async fn answer_callback(&self, channel: &Channel, callback_id: &str) -> Result<(), AdapterError> {
        match self {
            Self::Telegram(telegram) => telegram.answer_callback(channel, callback_id).await,
            Self::Max(_) => Ok(()),
        }
    }

    /// Asks the provider whose token it is: the name of the bot.
    pub async fn check(&self, token: &Secret) -> Result<String, AdapterError> {
        match self {
            Self::Telegram(telegram) => telegram.check(token).await,
            Self::Max(max) => max.check(token).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use outbound::Client;

    use super::*;

    #[test]
    fn every_provider_has_its_messenger_and_an_unknown_name_is_an_error() {
        let client = Client::new(&outbound::ClientSettings::default()).unwrap();
        let all = Messengers::new(Telegram::new(client.clone(), "http://t"), Max::new(client, "http://m"));
        assert!(matches!(all.of("telegram"), Ok(Messenger::Telegram(_))) && matches!(all.of("max"), Ok(Messenger::Max(_))));
        assert!(PROVIDERS.iter().all(|provider| all.of(provider).is_ok()));
        let error = all.of("Telegram").unwrap_err();
        assert_eq!((error.kind, error.scope), (ErrorKind::Invalid, kernel::ErrorScope::Channel));
        assert_eq!(error.message, "there is no messenger `Telegram`; there are: telegram, max");
    }
}
