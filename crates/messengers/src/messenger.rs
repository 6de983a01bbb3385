//! The messengers by one name. An enum rather than a trait object: there are two of them, and both are known here.

use kernel::{AdapterError, Secret};

use crate::{Channel, Max, Media, Meta, Sent, Telegram, Uploaded};

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
