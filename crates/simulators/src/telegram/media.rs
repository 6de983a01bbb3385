//! sendPhoto and its siblings: from a file parameter to the medium of a message.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::http;
use crate::sync::lock;

use super::call::{Call, Outcome, success};
use super::entity::Formatted;
use super::errors::Refusal;
use super::files::{Origin, StoredFile};
use super::message::{Content, Media};
use super::{images, keyboard, send, text};

const PHOTO_BYTES_MAX: usize = 10 * 1024 * 1024;
const UPLOAD_BYTES_MAX: usize = 50 * 1024 * 1024;
const PHOTO_SIDES_MAX: u32 = 10_000;
const PHOTO_RATIO_MAX: u32 = 20;
const PHOTO_EXTENSIONS: [&str; 6] = ["jpg", "jpeg", "gif", "png", "tif", "bmp"];
/// Of a medium whose bytes the simulator does not look into.
const USUAL_SIZE: (u32, u32) = (1280, 720);

/// A kind of medium: the name of its parameter, and of what a chat may forbid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MediaKind {
    pub(super) name: &'static str,
    pub(super) folder: &'static str,
    rights: &'static str,
}

const KINDS: [MediaKind; 6] = [
    MediaKind { name: "photo", folder: "photos", rights: "photos" },
    MediaKind { name: "video", folder: "videos", rights: "videos" },
    MediaKind { name: "document", folder: "documents", rights: "documents" },
    MediaKind { name: "audio", folder: "music", rights: "music" },
    MediaKind { name: "animation", folder: "animations", rights: "GIFs" },
    MediaKind { name: "voice", folder: "voice", rights: "voice notes" },
];

pub(super) fn kind(name: &str) -> Option<MediaKind> {
    KINDS.into_iter().find(|kind| kind.name == name)
}

pub(super) fn send_media(call: &mut Call) -> Outcome {
    let name = call.method.trim_start_matches("send").to_ascii_lowercase();
    let kind = kind(&name).ok_or_else(Refusal::method_not_found)?;
    let Formatted { text, entities } = text::caption(&call.params)?;
    let reply_markup = keyboard::read(&call.params)?;
    let source = call.params.text(kind.name).map(String::from);
    let file = take(call, kind, source.as_deref())?
        .ok_or_else(|| Refusal::bad_request(&format!("there is no {} in the request", kind.name)))?;
    let content = Content {
        media: Some(Box::new(Media { kind: kind.name, object: object(kind, &file) })),
        caption: (!text.is_empty()).then(|| text.into()),
        caption_entities: entities,
        reply_markup,
        ..Content::default()
    };
    let messages = send::post(call, kind.rights, vec![content], vec![file.note.clone()])?;
    success(&*messages[0])
}

/// The file a parameter names: an attached part, a part of the parameter's own name, a URL or a file_id.
/// `None` when there is none.
pub(super) fn take(call: &Call, kind: MediaKind, source: Option<&str>) -> Result<Option<Arc<StoredFile>>, Refusal> {
    let source = source.unwrap_or_default().trim();
    let part_name = source.strip_prefix("attach://").unwrap_or(kind.name);
    let bot_id = call.bot.user.id;
    if source.is_empty() || source.starts_with("attach://") {
        let Some(part) = call.files.iter().find(|part| part.field == part_name) else {
            return Ok(None);
        };
        let name = part.file_name.clone().unwrap_or_default();
        let dimensions = check_upload(kind, &name, &part.bytes)?;
        let origin = Origin::Upload { name, bytes: part.bytes.clone(), dimensions };
        return lock(&call.world.telegram.state).files.keep(&call.world, bot_id, kind.folder, origin).map(Some);
    }
    if source.contains("://") {
        let url = url::Url::parse(source).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(url) = url else {
            return Err(Refusal::bad_request("wrong HTTP URL specified"));
        };
        // Nothing is fetched: a simulator that depends on the network would prove nothing.
        if http::is_unreachable(&url) {
            return Err(Refusal::bad_request("failed to get HTTP URL content"));
        }
        let origin = Origin::Url(source.to_owned());
        return lock(&call.world.telegram.state).files.keep(&call.world, bot_id, kind.folder, origin).map(Some);
    }
    let state = lock(&call.world.telegram.state);
    let file = state.files.find(bot_id, source).map(Arc::clone);
    file.map(Some).ok_or_else(|| Refusal::bad_request("wrong file identifier/HTTP URL specified"))
}

fn check_upload(kind: MediaKind, name: &str, bytes: &[u8]) -> Result<Option<(u32, u32)>, Refusal> {
    let is_photo = kind.name == "photo";
    if bytes.len() > if is_photo { PHOTO_BYTES_MAX } else { UPLOAD_BYTES_MAX } {
        return Err(Refusal::too_large());
    }
    if bytes.is_empty() {
        return Err(Refusal::bad_request("file must be non-empty"));
    }
    let dimensions = images::dimensions(bytes);
    if !is_photo {
        return Ok(dimensions);
    }
    let Some((width, height)) = dimensions else {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        let is_picture_name = extension.is_none_or(|extension| PHOTO_EXTENSIONS.contains(&extension.as_str()));
        return Err(Refusal::bad_request(if is_picture_name {
            "IMAGE_PROCESS_FAILED"
        } else {
            "photo has unsupported extension. Use one of .jpg, .jpeg, .gif, .png, .tif or .bmp"
        }));
    };
    let (short, long) = (width.min(height), width.max(height));
    if short == 0 || width.saturating_add(height) > PHOTO_SIDES_MAX || long > short.saturating_mul(PHOTO_RATIO_MAX) {
        return Err(Refusal::bad_request("PHOTO_INVALID_DIMENSIONS"));
    }
    Ok(dimensions)
}

/// The medium as the message shows it.
pub(super) fn object(kind: MediaKind, file: &StoredFile) -> Value {
    let mut object = json!({"file_id": file.file_id, "file_unique_id": file.unique_id});
    if file.note.size > 0 {
        object["file_size"] = json!(file.note.size);
    }
    let (width, height) = file.dimensions.unwrap_or(USUAL_SIZE);
    if matches!(kind.name, "photo" | "video" | "animation") {
        object["width"] = json!(width);
        object["height"] = json!(height);
    }
    if matches!(kind.name, "video" | "animation" | "audio" | "voice") {
        object["duration"] = json!(1);
    }
    if kind.name == "photo" {
        return json!([object]);
    }
    object["mime_type"] = json!(file.mime_type);
    if kind.name != "voice" && !file.name.is_empty() {
        object["file_name"] = json!(file.name);
    }
    object
}
