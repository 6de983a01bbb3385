//! MAX. The bytes of media are uploaded first, each to an address of its own, and a message names them by a token.
//!
//! An upload is processed for a while after it has come. Until then a message that names it is refused and not made,
//! so the adapter asks again a few times, with growing pauses, before it gives the wait back to the caller.

mod answers;
mod classify;
mod request;
pub(crate) mod update;
mod upload;

use std::{sync::Arc, time::Duration};

use kernel::{AdapterError, ErrorKind, Secret};
use outbound::Client;
use reqwest::{Method, RequestBuilder, header::HeaderValue};
use serde_json::{Map, Value};

use crate::answer::{self, Repeat};
use crate::{Channel, Media, Meta, Raw, Sent, Uploaded};

/// Between the tries of a message whose attachments are not ready; after the last one the caller waits.
pub const NOT_READY_PAUSES: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(3)];

/// How long an upload is counted on. MAX promises nothing; an hour is enough for the retries of one message.
pub const UPLOAD_LIFETIME: Duration = Duration::from_hours(1);

#[derive(Clone, Debug)]
pub struct Max {
    client: Client,
    base_url: String,
    not_ready_pauses: Arc<[Duration]>,
}

impl Max {
    pub fn new(client: Client, base_url: &str) -> Self {
        let base_url = base_url.trim_end_matches('/').to_owned();
        Self { client, base_url, not_ready_pauses: Arc::from(NOT_READY_PAUSES) }
    }

    /// Other pauses than [`NOT_READY_PAUSES`]: as many tries follow the first.
    #[must_use]
    pub fn with_not_ready_pauses(self, pauses: &[Duration]) -> Self {
        Self { not_ready_pauses: Arc::from(pauses), ..self }
    }

    pub async fn send_text(&self, channel: &Channel, text: &str, meta: &Meta) -> Result<Sent, AdapterError> {
        let mut body = request::text(Some(text), meta);
        request::silence(&mut body, meta);
        request::attach(&mut body, request::keyboard(meta).into_iter().collect());
        self.send(channel, meta, body, &[]).await
    }

    /// One message with all the items: MAX shows several of them as an album. Bytes are uploaded first, in order.
    pub async fn send_media(
        &self,
        channel: &Channel,
        media: &[Media],
        text: Option<&str>,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        if media.is_empty() {
            return Err(answer::invalid("there is no media to send"));
        }
        // Before the first upload: what cannot be sent is not worth uploading its neighbours.
        media.iter().try_for_each(request::check)?;
        let mut items = Vec::with_capacity(media.len());
        for item in media {
            let uploaded = self.upload(channel, item).await?;
            items.push(request::item(item, uploaded.map(|uploaded| uploaded.file_id)));
        }
        let captions = media.iter().map(|item| item.caption.as_deref());
        let text = answer::joined(std::iter::once(text).chain(captions));
        let mut body = request::text(text.as_deref(), meta);
        request::silence(&mut body, meta);
        let attachments = items.iter().map(request::MaxAttachment::attachment).chain(request::keyboard(meta)).collect();
        request::attach(&mut body, attachments);
        self.send(channel, meta, body, &items).await
    }

    /// Uploads the bytes of an item; nothing when it has none. Has no effect that anybody sees.
    pub async fn upload(&self, channel: &Channel, media: &Media) -> Result<Option<Uploaded>, AdapterError> {
        let Some(file_id) = upload::upload(self, &channel.token, media).await? else {
            return Ok(None);
        };
        Ok(Some(Uploaded { file_id, lives_for: Some(UPLOAD_LIFETIME) }))
    }

    pub async fn edit_text(
        &self,
        channel: &Channel,
        provider_message_id: &str,
        text: &str,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        let mut body = request::text(Some(text), meta);
        // The whole list, even an empty one: buttons that are gone from the post are gone from the message.
        request::attach_exactly(&mut body, request::keyboard(meta).into_iter().collect());
        self.edit(channel, provider_message_id, body).await
    }

    pub async fn edit_caption(
        &self,
        channel: &Channel,
        provider_message_id: &str,
        text: &str,
        meta: &Meta,
    ) -> Result<Sent, AdapterError> {
        let mut body = request::text(Some(text), meta);
        request::keep_attachments(&mut body);
        self.edit(channel, provider_message_id, body).await
    }

    pub async fn delete(&self, channel: &Channel, provider_message_id: &str) -> Result<(), AdapterError> {
        let request = self.request(Method::DELETE, "/messages", &channel.token)?;
        let request = request.query(&[("message_id", provider_message_id)]);
        match self.make(request, &channel.token, Repeat::Harmless).await {
            Ok(_) => Ok(()),
            Err(error) if classify::is_already_gone(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub async fn check(&self, token: &Secret) -> Result<String, AdapterError> {
        let request = self.request(Method::GET, "/me", token)?;
        let bot = self.make(request, token, Repeat::Harmless).await?;
        let name = ["username", "first_name", "name"].into_iter().find_map(|field| bot[field].as_str());
        name.map(ToOwned::to_owned).ok_or_else(|| classify::unreadable(&bot, Repeat::Harmless))
    }

    async fn send(
        &self,
        channel: &Channel,
        meta: &Meta,
        body: Map<String, Value>,
        items: &[request::MaxAttachment],
    ) -> Result<Sent, AdapterError> {
        let mut pauses = self.not_ready_pauses.iter();
        loop {
            let mut request = self.request(Method::POST, "/messages", &channel.token)?;
            request = request.query(&[request::target(&channel.target_id)]);
            if meta.disable_preview {
                request = request.query(&[("disable_link_preview", true)]);
            }
            let error = match self.make(request.json(&body), &channel.token, Repeat::Duplicates).await {
                Ok(answer) => return answers::sent(answer, items),
                Err(error) => error,
            };
            match pauses.next() {
                Some(pause) if error.kind == ErrorKind::NotReady => tokio::time::sleep(*pause).await,
                _ => return Err(error),
            }
        }
    }

    async fn edit(&self, channel: &Channel, provider_message_id: &str, body: Map<String, Value>) -> Result<Sent, AdapterError> {
        let request = self.request(Method::PUT, "/messages", &channel.token)?;
        let request = request.query(&[("message_id", provider_message_id)]).json(&body);
        let answer = self.make(request, &channel.token, Repeat::Harmless).await?;
        Ok(Sent {
            provider_message_id: provider_message_id.to_owned(),
            provider_message_ids: vec![provider_message_id.to_owned()],
            file_ids: Vec::new(),
            migrated_to: None,
            raw: Raw(answer),
        })
    }

    fn request(&self, method: Method, path: &str, token: &Secret) -> Result<RequestBuilder, AdapterError> {
        // The raw token: MAX does not know `Bearer`.
        let mut value = HeaderValue::from_str(token.expose()).map_err(|_| answer::malformed_token())?;
        value.set_sensitive(true);
        let url = format!("{}{path}", self.base_url);
        Ok(self.client.request(method, &url).header(reqwest::header::AUTHORIZATION, value))
    }

    async fn make(&self, request: RequestBuilder, token: &Secret, repeat: Repeat) -> Result<Value, AdapterError> {
        let reply = answer::call(&self.client, request, token, repeat).await?;
        classify::result(&reply, repeat)
    }
}
