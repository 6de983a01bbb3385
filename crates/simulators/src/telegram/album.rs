//! sendMediaGroup: the rules of albums, and one message per item.

use serde_json::Value;

use crate::params::Params;

use super::call::{Call, Outcome, success};
use super::entity::Formatted;
use super::errors::Refusal;
use super::media::{self, MediaKind};
use super::message::{Content, Media};
use super::{send, text};

const ITEMS_MAX: usize = 10;

/// One checked `InputMedia`.
pub(super) struct Item {
    pub(super) kind: MediaKind,
    pub(super) params: Params,
    source: String,
}

pub(super) fn send_media_group(call: &mut Call) -> Outcome {
    let given = call.params.json("media").transpose();
    let given = given.map_err(|_| Refusal::bad_request("can't parse media JSON object"))?;
    let Some(list) = given.as_deref() else {
        return Err(Refusal::bad_request("there are no messages to send"));
    };
    let Some(list) = list.as_array() else {
        return Err(Refusal::bad_request("expected an Array of InputMedia"));
    };
    let items = list.iter().map(|item| read_album_item(call, item)).collect::<Result<Vec<_>, _>>()?;
    check_album(&items)?;
    let mut contents = Vec::with_capacity(items.len());
    let mut notes = Vec::with_capacity(items.len());
    let is_album = items.len() > 1;
    for (index, item) in items.iter().enumerate() {
        let (content, file) =
            content(call, item).map_err(|refusal| if is_album { failed_item(index + 1, &refusal) } else { refusal })?;
        contents.push(content);
        notes.extend(file);
    }
    let what = if items[0].kind.name == "video" { "videos" } else { "photos" };
    let messages = send::post(call, what, contents, notes)?;
    success(&messages)
}

fn read_album_item(call: &Call, item: &Value) -> Result<Item, Refusal> {
    let kind = item["type"].as_str().unwrap_or_default();
    if matches!(kind, "animation" | "voice") {
        return Err(unparsed(&format!("type \"{kind}\" can't be used in sendMediaGroup")));
    }
    read_item(call, item)
}

/// Reads one `InputMedia`, of an album or of editMessageMedia.
pub(super) fn read_item(call: &Call, item: &Value) -> Result<Item, Refusal> {
    if !item.is_object() {
        return Err(unparsed("expected an Object"));
    }
    let kind = item["type"].as_str().ok_or_else(|| unparsed("Field \"type\" must be of type String"))?;
    let kind = media::kind(kind).filter(|kind| kind.name != "voice");
    let kind = kind.ok_or_else(|| unparsed("invalid media type specified"))?;
    let source = item["media"].as_str().unwrap_or_default();
    let attached = source.strip_prefix("attach://");
    let missing = attached.is_some_and(|name| !call.files.iter().any(|part| part.field == name));
    if source.is_empty() || missing {
        return Err(unparsed("media not found"));
    }
    let params = serde_json::from_value(item.clone()).unwrap_or_default();
    Ok(Item { kind, params, source: source.to_owned() })
}

pub(super) fn content(call: &Call, item: &Item) -> Result<(Content, Option<crate::ledger::FileNote>), Refusal> {
    let Formatted { text, entities } = text::caption(&item.params).map_err(|refusal| {
        let inner = refusal.description.strip_prefix("Bad Request: can't parse entities: ");
        // Inside an album the server keeps the capital letter of the inner message.
        inner.map(|inner| unparsed(&format!("Can't parse entities: {inner}"))).unwrap_or(refusal)
    })?;
    let file = media::take(call, item.kind, Some(&item.source))?.ok_or_else(|| unparsed("media not found"))?;
    let content = Content {
        media: Some(Box::new(Media { kind: item.kind.name, object: media::object(item.kind, &file) })),
        caption: (!text.is_empty()).then(|| text.into()),
        caption_entities: entities,
        ..Content::default()
    };
    Ok((content, Some(file.note.clone())))
}

fn check_album(items: &[Item]) -> Result<(), Refusal> {
    if items.is_empty() {
        return Err(Refusal::bad_request("there are no messages to send"));
    }
    if items.len() > ITEMS_MAX {
        return Err(Refusal::bad_request("too many messages to send as an album"));
    }
    for alone in ["document", "audio"] {
        let count = items.iter().filter(|item| item.kind.name == alone).count();
        if count != 0 && count != items.len() {
            return Err(Refusal::bad_request(&format!("{alone} can't be mixed with other media types")));
        }
    }
    let above = |item: &Item| item.params.flag("show_caption_above_media");
    if items.iter().any(|item| above(item) != above(&items[0])) {
        return Err(Refusal::bad_request("parameter show_caption_above_media must be the same for all messages"));
    }
    Ok(())
}

/// An item the service itself refuses is named by its number; what the server refuses earlier is not.
fn failed_item(number: usize, refusal: &Refusal) -> Refusal {
    match refusal.description.strip_prefix("Bad Request: ") {
        Some(code @ ("PHOTO_INVALID_DIMENSIONS" | "IMAGE_PROCESS_FAILED")) => {
            Refusal::bad_request(&format!("failed to send message #{number} with the error message \"{code}\""))
        }
        _ => refusal.clone(),
    }
}

fn unparsed(message: &str) -> Refusal {
    Refusal::bad_request(&format!("can't parse InputMedia: {message}"))
}
