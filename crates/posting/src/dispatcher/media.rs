//! Media of a step: what the provider has already is named, what it has not is brought from our storage.

use kernel::{AdapterError, ErrorKind, ErrorScope};
use messengers::{Channel, Media, MediaKind, MediaSource, Messenger, Meta, Sent};
use outbound::FetchRequest;
use serde::Deserialize;

use super::{
    Deliveries,
    send::{SendStep, permanent, unavailable, workspace},
};
use crate::{
    media::{self, StoredMedia},
    store::SendingDelivery,
};

/// One item of the payload.
#[derive(Clone, Debug, Deserialize)]
struct MediaItem {
    #[serde(rename = "type")]
    kind: MediaKind,
    blob_ref: Option<String>,
    url: Option<String>,
    file_id: Option<String>,
    attachment_token: Option<String>,
    caption: Option<String>,
    name: Option<String>,
}

/// Who sends what to where.
pub(super) struct MediaCall<'a> {
    pub(super) deliveries: &'a Deliveries,
    pub(super) messenger: &'a Messenger,
    pub(super) channel: &'a Channel,
    pub(super) sending: &'a SendingDelivery,
}

/// Sends the media of a step. When the provider refuses something that it had, the bytes are brought anew, once.
pub(super) async fn send(call: &MediaCall<'_>, step: &SendStep, text: Option<&str>, meta: &Meta) -> Result<Sent, AdapterError> {
    let MediaCall { deliveries, messenger, channel, sending } = call;
    let all: Vec<MediaItem> = serde_json::from_value(sending.media.clone().unwrap_or_default())
        .map_err(|error| permanent(ErrorKind::Invalid, "media", format!("the media cannot be read: {error}")))?;
    let items: Vec<MediaItem> = step.media.iter().filter_map(|index| all.get(*index).cloned()).collect();
    let refs: Vec<String> = items.iter().filter_map(|item| item.blob_ref.clone()).collect();
    let found = media::find(deliveries.db.pool(), sending.workspace_id, &refs, &sending.platform).await.map_err(unavailable)?;
    let used_cache = found.iter().any(|found| found.file_id.is_some());

    let mut ready = resolve(call, &items, &found).await?;
    let sent = match messenger.send_media(channel, &ready, text, meta).await {
        Err(error) if used_cache && is_refused_media(&error) => {
            media::forget_blobs(deliveries.db.pool(), sending.workspace_id, &refs, &sending.platform)
                .await
                .map_err(unavailable)?;
            let bare: Vec<StoredMedia> = found.iter().map(StoredMedia::without_cache).collect();
            ready = resolve(call, &items, &bare).await?;
            messenger.send_media(channel, &ready, text, meta).await?
        }
        result => result?,
    };
    for ((item, media), file_id) in items.iter().zip(&ready).zip(&sent.file_ids) {
        // What went by its name has a row already, with the time until which that name holds.
        let was_bytes = matches!(media.source, MediaSource::File { .. });
        if let (Some(blob_ref), Some(file_id), true) = (&item.blob_ref, file_id, was_bytes) {
            let kept =
                media::put_blob(deliveries.db.pool(), sending.workspace_id, blob_ref, &sending.platform, file_id, None).await;
            if let Err(error) = kept {
                tracing::warn!(%error, blob.reference = blob_ref, "dispatcher.put_blob");
            }
        }
    }
    Ok(sent)
}

/// The message was refused as it is, for good: with fresh bytes it may pass.
fn is_refused_media(error: &AdapterError) -> bool {
    error.scope == ErrorScope::Delivery && matches!(error.kind, ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::TooLarge)
}

async fn resolve(call: &MediaCall<'_>, items: &[MediaItem], found: &[StoredMedia]) -> Result<Vec<Media>, AdapterError> {
    let mut ready = Vec::with_capacity(items.len());
    for item in items {
        let source = match (&item.blob_ref, &item.url) {
            (Some(blob_ref), _) => stored(call, item, blob_ref, found).await?,
            (None, Some(url)) => by_address(call, item, url).await?,
            (None, None) => MediaSource::FileId(item.file_id.clone().or(item.attachment_token.clone()).unwrap_or_default()),
        };
        ready.push(Media { kind: item.kind, source, caption: item.caption.clone() });
    }
    Ok(ready)
}

/// An item whose bytes we keep: by the provider's name for it, if that still holds, else the bytes.
async fn stored(
    call: &MediaCall<'_>,
    item: &MediaItem,
    blob_ref: &str,
    found: &[StoredMedia],
) -> Result<MediaSource, AdapterError> {
    let MediaCall { deliveries, messenger, channel, sending } = call;
    let missing =
        || permanent(ErrorKind::NotFound, "media_missing_origin", format!("the bytes of `{blob_ref}` are no longer kept"));
    let known = found.iter().find(|found| found.blob_ref == blob_ref);
    if let Some(file_id) = known.and_then(|found| found.file_id.clone()) {
        return Ok(MediaSource::FileId(file_id));
    }
    let known = known.filter(|found| found.origin_url.is_some()).ok_or_else(missing)?;
    let key = media::key(known.origin_url.as_deref().unwrap_or_default());
    let bytes = match deliveries.objects.get(workspace(sending), key).await {
        Ok(bytes) => bytes,
        Err(platform::objects::Error::NotFound(_)) => return Err(missing()),
        Err(error) => return Err(unavailable(error)),
    };
    let content_type = known.content_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned());
    let name = item.name.clone().unwrap_or_else(|| media::file_name(blob_ref, &content_type));
    let source = MediaSource::File { name, content_type, bytes };
    let media = Media { kind: item.kind, source: source.clone(), caption: None };
    let Some(uploaded) = messenger.upload(channel, &media).await? else { return Ok(source) };
    let expires_at = uploaded.lives_for.map(|lives_for| deliveries.db.clock().now() + lives_for);
    media::put_blob(deliveries.db.pool(), sending.workspace_id, blob_ref, &sending.platform, &uploaded.file_id, expires_at)
        .await
        .map_err(unavailable)?;
    Ok(MediaSource::FileId(uploaded.file_id))
}

/// An item that we know by its address only. Telegram fetches by itself; for MAX we do, unless the policy lets it.
async fn by_address(call: &MediaCall<'_>, item: &MediaItem, url: &str) -> Result<MediaSource, AdapterError> {
    let MediaCall { deliveries, messenger, sending, .. } = call;
    let is_fetched_there = match messenger {
        Messenger::Telegram(_) => true,
        Messenger::Max(_) => {
            item.kind == MediaKind::Image
                && media::is_url_allowed(deliveries.db.pool(), sending.workspace_id, "image").await.map_err(unavailable)?
        }
    };
    if is_fetched_there {
        return Ok(MediaSource::Url(url.to_owned()));
    }
    let fetched =
        deliveries.fetcher.fetch(url, &FetchRequest { body_bytes_max: media::FETCH_BYTES_MAX, ..FetchRequest::default() }).await;
    let fetched = fetched.map_err(|error| {
        let message = kernel::redact::snippet(&error.to_string(), 300);
        if error.is_retryable() { unavailable(message) } else { permanent(ErrorKind::Invalid, "media_unreachable", message) }
    })?;
    let content_type = fetched.content_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    let name = item.name.clone().unwrap_or_else(|| media::file_name("media", &content_type));
    Ok(MediaSource::File { name, content_type, bytes: fetched.body })
}
