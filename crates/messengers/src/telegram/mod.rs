//! Telegram. The bytes of media travel inside the message, by multipart; everything else is JSON.
//!
//! A chat that became a supergroup refuses a message and names its new id. The message is then sent there, once: the
//! refusal proves that the first call had no effect. Edits and deletions do not follow, because the messages of the old
//! chat do not exist in the new one.

mod answers;
mod bot;
mod classify;
mod request;
pub(crate) mod update;

pub use self::bot::{FilePlace, WebhookInfo, WebhookTarget};

use kernel::{AdapterError, Secret};
use outbound::Client;
use reqwest::Method;
use serde_json::{Value, json};

use self::request::TelegramCall;
use crate::answer::{self, Repeat};
use crate::{Channel, Media, Meta, Raw, Sent};

#[derive(Clone, Debug)]
pub struct Telegram {
    client: Client,
    base_url: String,
}

impl Telegram {
    pub fn new(client: Client, base_url: &str) -> Self {
        Self { client, base_url: base_url.trim_end_matches('/').to_owned() }
    }

    pub async fn send_text(&self, channel: &Channel, text: &str, meta: &Meta) -> Result<Sent, AdapterError> {
        let mut call = TelegramCall::text("sendMessage", text, meta);
        call.silence(meta);
        call.place(meta);
        self.send(channel, call, &[]).await
    }

    /// One message, or one album of two and more items.
    pub async fn send_media(
        &self,
        channel: &Channel,
        media: &[Media],
        text: Option<&str>,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        let mut call = match media {
            [] => return Err(answer::invalid("there is no media to send")),
            [item] => TelegramCall::single(item, text, meta),
            _ if !meta.buttons.is_empty() => return Err(answer::invalid("an album on Telegram cannot have buttons")),
            items => TelegramCall::album(items, text, meta),
        };
        call.silence(meta);
        self.send(channel, call, media).await
    }

    pub async fn edit_text(
        &self,
        channel: &Channel,
        provider_message_id: &str,
        text: &str,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        self.edit(channel, provider_message_id, TelegramCall::text("editMessageText", text, meta)).await
    }

    pub async fn edit_caption(
        &self,
        channel: &Channel,
        provider_message_id: &str,
        text: &str,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        self.edit(channel, provider_message_id, TelegramCall::caption(text, meta)).await
    }

    pub async fn delete(&self, channel: &Channel, provider_message_id: &str) -> Result<(), AdapterError> {
        let mut call = TelegramCall::new("deleteMessage");
        call.set("message_id", request::id(provider_message_id));
        call.set("chat_id", request::id(&channel.target_id));
        match self.make(&channel.token, &call, Repeat::Harmless).await {
            Ok(_) => Ok(()),
            Err(error) if classify::is_already_gone(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Lets a pressed button stop turning. One that was released already, or too late, is refused, and that is no harm.
    pub async fn answer_callback(&self, channel: &Channel, callback_id: &str) -> Result<(), AdapterError> {
        let mut call = TelegramCall::new("answerCallbackQuery");
        call.set("callback_query_id", callback_id);
        self.make(&channel.token, &call, Repeat::Harmless).await.map(drop)
    }

    pub async fn check(&self, token: &Secret) -> Result<String, AdapterError> {
        let bot = self.make(token, &TelegramCall::new("getMe"), Repeat::Harmless).await?;
        let name = bot["username"].as_str().or_else(|| bot["first_name"].as_str());
        name.map(ToOwned::to_owned).ok_or_else(|| classify::unreadable(&bot, Repeat::Harmless))
    }

    async fn send(&self, channel: &Channel, mut call: TelegramCall, media: &[Media]) -> Result<Sent, AdapterError> {
        call.set("chat_id", request::id(&channel.target_id));
        let first = self.make(&channel.token, &call, Repeat::Duplicates).await;
        let (result, migrated_to) = match first {
            Ok(result) => (result, None),
            Err(error) => {
                let new_id = classify::migrated_to(&error).ok_or(error)?;
                call.set("chat_id", request::id(&new_id));
                let second = self.make(&channel.token, &call, Repeat::Duplicates).await;
                (second.map_err(|error| with_new_id(error, &new_id))?, Some(new_id))
            }
        };
        answers::sent(result, media, migrated_to)
    }

    async fn edit(&self, channel: &Channel, provider_message_id: &str, mut call: TelegramCall) -> Result<Sent, AdapterError> {
        call.set("chat_id", request::id(&channel.target_id));
        call.set("message_id", request::id(provider_message_id));
        let raw = match self.make(&channel.token, &call, Repeat::Harmless).await {
            Ok(result) => result,
            Err(error) if classify::is_not_modified(&error) => error.raw,
            Err(error) => return Err(error),
        };
        Ok(Sent {
            provider_message_id: provider_message_id.to_owned(),
            provider_message_ids: vec![provider_message_id.to_owned()],
            file_ids: Vec::new(),
            migrated_to: None,
            raw: Raw(raw),
        })
    }

    /// One call: the `result` of the answer.
    async fn make(&self, token: &Secret, call: &TelegramCall, repeat: Repeat) -> Result<Value, AdapterError> {
        // The token is a part of the path: one with a slash or a question mark in it would be another path.
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-');
        if token.expose().is_empty() || !token.expose().bytes().all(is_token) {
            return Err(answer::malformed_token());
        }
        let url = format!("{}/bot{}/{}", self.base_url, token.expose(), call.method());
        let request = call.write(self.client.request(Method::POST, &url));
        let reply = answer::call(&self.client, request, token, repeat).await?;
        classify::result(&reply, repeat)
    }
}

/// Although the message failed in the new chat too, its id is worth keeping.
fn with_new_id(mut error: AdapterError, new_id: &str) -> AdapterError {
    error.raw = json!({"answer": error.raw, "migrated_to": new_id});
    error
}
