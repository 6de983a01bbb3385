//! Attachments: which combinations a message may have, and how what is sent looks when it is shown.

use serde_json::{Value, json};
use url::Url;

use crate::http;
use crate::ledger::FileNote;

use super::State;
use super::call::Call;
use super::problem::Problem;

/// Quoted by many integrators; the keyboard counts.
const ATTACHMENTS_MAX: usize = 12;
const KINDS: [&str; 9] = ["image", "video", "audio", "file", "sticker", "contact", "share", "location", "inline_keyboard"];
/// Kinds that stand alone beside a keyboard.
const ALONE: [&str; 4] = ["file", "audio", "contact", "sticker"];

/// Attachments as shown, and the files among them.
#[derive(Default)]
pub(super) struct Attached {
    pub(super) shown: Vec<Value>,
    pub(super) files: Vec<FileNote>,
}

/// The rules that need no state.
pub(super) fn check(list: &[Value]) -> Result<(), Problem> {
    let kinds = list.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
    if list.len() > ATTACHMENTS_MAX {
        return Err(Problem::too_long("attachments", list.len(), ATTACHMENTS_MAX));
    }
    let others = kinds.iter().filter(|kind| **kind != "inline_keyboard").count();
    for alone in ALONE {
        if kinds.contains(&alone) && others > 1 {
            // The text is known for files; the other kinds follow it.
            return Err(Problem::payload(format!("Must be only one {alone} attachment in message")));
        }
    }
    if list.len() - others > 1 {
        return Err(Problem::payload("Must be only one inline_keyboard attachment in message"));
    }
    Ok(())
}

/// Turns attachments into what the message shows. Uses up one "not ready" of a fresh upload.
pub(super) fn attach(call: &Call, state: &mut State, list: &[Value]) -> Result<Attached, Problem> {
    let mut attached = Attached::default();
    for item in list {
        let kind = kind(item)?;
        let payload = &item["payload"];
        match kind {
            "image" => attach_image(call, state, payload, &mut attached)?,
            "video" | "audio" | "file" => {
                let token = payload["token"].as_str().ok_or_else(Problem::undeserializable)?;
                attach_upload(call, state, kind, token, &mut attached)?;
            }
            "sticker" => {
                let code = payload["code"].as_str().ok_or_else(Problem::undeserializable)?;
                let url = format!("{}/max/files/sticker-{code}", call.base_url);
                let payload = json!({"url": url, "code": code});
                attached.shown.push(json!({"type": kind, "payload": payload, "width": 512, "height": 512}));
            }
            "location" => {
                let number = |name: &str| item[name].as_f64().ok_or_else(Problem::undeserializable);
                let (latitude, longitude) = (number("latitude")?, number("longitude")?);
                attached.shown.push(json!({"type": kind, "latitude": latitude, "longitude": longitude}));
            }
            _ => attached.shown.push(json!({"type": kind, "payload": payload})),
        }
    }
    Ok(attached)
}

fn attach_image(call: &Call, state: &mut State, payload: &Value, attached: &mut Attached) -> Result<(), Problem> {
    let ways = ["url", "token", "photos"].iter().filter(|name| !payload[**name].is_null()).count();
    if ways != 1 {
        // Mutually exclusive, and one of them is needed.
        return Err(Problem::undeserializable());
    }
    if let Some(url) = payload["url"].as_str() {
        let reachable =
            Url::parse(url).is_ok_and(|parsed| matches!(parsed.scheme(), "http" | "https") && !http::is_unreachable(&parsed));
        if !reachable {
            return Err(Problem::payload("Failed to upload image."));
        }
        let photo_id = state.uploads.next_id();
        let payload = json!({"photo_id": photo_id, "token": format!("url-{photo_id}"), "url": url});
        attached.shown.push(json!({"type": "image", "payload": payload}));
        attached.files.push(FileNote { name: url.to_owned(), size: 0, sha256: None, url: Some(url.to_owned()) });
        return Ok(());
    }
    if let Some(token) = payload["token"].as_str() {
        return attach_upload(call, state, "image", token, attached);
    }
    let photos = payload["photos"].as_object().filter(|photos| !photos.is_empty());
    for photo in photos.ok_or_else(Problem::undeserializable)?.values() {
        let token = photo["token"].as_str().ok_or_else(Problem::undeserializable)?;
        attach_upload(call, state, "image", token, attached)?;
    }
    Ok(())
}

fn attach_upload(
    call: &Call,
    state: &mut State,
    kind: &'static str,
    token: &str,
    attached: &mut Attached,
) -> Result<(), Problem> {
    let upload = state.uploads.by_token(token).filter(|upload| upload.kind == kind);
    let Some(upload) = upload else {
        let name = if kind == "image" { "photo" } else { kind };
        return Err(Problem::payload(format!("Invalid {name} token provided: {token}")));
    };
    let Some(file) = &upload.file else {
        return Err(Problem::not_ready(kind));
    };
    let file = file.clone();
    if upload.not_ready_left > 0 {
        upload.not_ready_left -= 1;
        return Err(Problem::not_ready(kind));
    }
    let url = format!("{}/max/files/{token}", call.base_url);
    attached.shown.push(match kind {
        "image" => {
            json!({"type": kind, "payload": {"photo_id": upload.id, "token": token, "url": url}})
        }
        "video" => json!({
            "type": kind,
            "payload": {"url": url, "token": token},
            "thumbnail": {"url": format!("{url}-thumbnail")},
            "width": 1280,
            "height": 720,
            "duration": 1,
        }),
        "file" => json!({
            "type": kind,
            "payload": {"url": url, "token": token},
            "filename": file.name,
            "size": file.size,
        }),
        _ => json!({"type": kind, "payload": {"url": url, "token": token}}),
    });
    attached.files.push(file);
    Ok(())
}

fn kind(item: &Value) -> Result<&'static str, Problem> {
    let given = item["type"].as_str().unwrap_or_default();
    let known = KINDS.into_iter().find(|known| *known == given).ok_or_else(Problem::undeserializable)?;
    let payload_ok = known == "location" || item["payload"].is_object();
    if payload_ok { Ok(known) } else { Err(Problem::undeserializable()) }
}
