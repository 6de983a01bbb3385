//! Uploads: an address per file, the bytes by multipart or in ranges, and the token that stands for them.

use std::collections::{BTreeMap, HashMap};

use axum::response::Response;
use bytes::Bytes;
use serde_json::json;

use crate::http;
use crate::ledger::FileNote;
use crate::sync::lock;
use crate::vault::{hex, sha256};

use super::call::Call;
use super::problem::Problem;

const UPLOADS_MAX: usize = 100_000;
const KINDS: [&str; 4] = ["image", "video", "audio", "file"];
/// Which extensions the provider forbids is not listed anywhere; these are beyond doubt.
const FORBIDDEN: [&str; 5] = ["exe", "bat", "cmd", "msi", "apk"];

pub(super) struct Upload {
    pub(super) id: i64,
    pub(super) kind: &'static str,
    /// `None` until the bytes have come.
    pub(super) file: Option<FileNote>,
    pub(super) not_ready_left: u32,
    token: String,
    bytes: Bytes,
    /// Parts of a resumable upload by their start: they may come in any order.
    ranges: BTreeMap<usize, Bytes>,
}

#[derive(Default)]
pub(super) struct Uploads {
    slots: HashMap<String, Upload>,
    slot_of_token: HashMap<String, String>,
    last_id: i64,
}

impl Uploads {
    pub(super) const fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn by_token(&mut self, token: &str) -> Option<&mut Upload> {
        self.slots.get_mut(self.slot_of_token.get(token)?)
    }
}

/// Step 1: an address to post the bytes to. Video and audio get their token here, the others with the bytes.
pub(super) fn new_upload(call: &Call) -> Result<Response, Problem> {
    let given = call.query.text("type").ok_or_else(|| Problem::missing("type"))?;
    let kind = KINDS.into_iter().find(|kind| *kind == given);
    let kind = kind.ok_or_else(|| Problem::payload(format!("Invalid type: {given}")))?;
    let mut state = lock(&call.world.max.state);
    let uploads = &mut state.uploads;
    if uploads.slots.len() >= UPLOADS_MAX {
        return Err(Problem::too_large());
    }
    let id = uploads.next_id();
    let digest = hex(&sha256(format!("{kind}/{id}").as_bytes())[..16]);
    let (slot, token) = (format!("{kind}-{id}"), format!("{kind}{digest}"));
    let upload = Upload {
        id,
        kind,
        file: None,
        not_ready_left: if matches!(kind, "file" | "video") { call.world.max.not_ready_sends() } else { 0 },
        token: token.clone(),
        bytes: Bytes::new(),
        ranges: BTreeMap::new(),
    };
    uploads.slots.insert(slot.clone(), upload);
    uploads.slot_of_token.insert(token.clone(), slot.clone());
    let url = format!("{}/max/upload/{slot}", call.base_url);
    Ok(match kind {
        "video" | "audio" => http::json(200, &json!({"url": url, "token": token})),
        _ => http::json(200, &json!({"url": url})),
    })
}

/// Step 2: the bytes.
pub(super) fn upload(call: &Call) -> Result<Response, Problem> {
    let (name, bytes, range) = match call.parts.iter().find(|part| part.field == "data") {
        Some(part) => (part.file_name.clone().unwrap_or_default(), part.bytes.clone(), None),
        None if !call.parts.is_empty() => return Err(Problem::missing("data")),
        None => (file_name(call), call.body.clone(), content_range(call)),
    };
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    if FORBIDDEN.contains(&extension.as_str()) {
        return Ok(http::bytes(415, "text/plain", "File extension is forbidden"));
    }
    if !call.world.vault.admit(bytes.len()) {
        return Err(Problem::too_large());
    }
    let mut state = lock(&call.world.max.state);
    let Some(upload) = state.uploads.slots.get_mut(&call.route.argument) else {
        return Err(Problem::not_found("Upload not found"));
    };
    match range {
        Some((start, total)) => {
            upload.ranges.insert(start, bytes);
            let received: usize = upload.ranges.values().map(Bytes::len).sum();
            if received < total {
                return Ok(http::bytes(201, "text/plain", format!("0-{}/{total}", received.saturating_sub(1))));
            }
            let whole: Vec<u8> = std::mem::take(&mut upload.ranges).into_values().flatten().collect();
            upload.complete(name, whole.into());
        }
        None => upload.complete(name, bytes),
    }
    Ok(upload.answer())
}

impl Upload {
    fn complete(&mut self, name: String, bytes: Bytes) {
        let sha256 = Some(hex(&sha256(&bytes)));
        self.file = Some(FileNote { name, size: bytes.len(), sha256, url: None });
        self.bytes = bytes;
    }

    /// Each kind answers in its own way; video and audio not even in JSON.
    fn answer(&self) -> Response {
        match self.kind {
            "image" => {
                let key = format!("{}==", hex(&self.id.to_be_bytes()));
                http::json(200, &json!({"photos": {key: {"token": self.token}}}))
            }
            "file" => http::json(200, &json!({"fileId": self.id, "token": self.token})),
            _ => http::bytes(200, "text/xml", "<retval>1</retval>"),
        }
    }
}

pub(super) fn download(call: &Call) -> Result<Response, Problem> {
    let mut state = lock(&call.world.max.state);
    let upload = state.uploads.by_token(&call.route.argument).filter(|upload| upload.file.is_some());
    let upload = upload.ok_or_else(|| Problem::not_found("File not found"))?;
    Ok(http::bytes(200, "application/octet-stream", upload.bytes.clone()))
}

pub(super) fn video(call: &Call) -> Result<Response, Problem> {
    let token = &call.route.argument;
    let mut state = lock(&call.world.max.state);
    let known = state.uploads.by_token(token).is_some_and(|upload| upload.kind == "video" && upload.file.is_some());
    if !known {
        return Err(Problem::not_found(format!("Video {token} not found")));
    }
    let url = format!("{}/max/files/{token}", call.base_url);
    Ok(http::json(
        200,
        &json!({
            "token": token,
            "urls": {"mp4_720": url},
            "thumbnail": {"url": format!("{url}-thumbnail")},
            "width": 1280,
            "height": 720,
            "duration": 1,
        }),
    ))
}

fn file_name(call: &Call) -> String {
    let header = |name: &str| call.headers.get(name).and_then(|value| value.to_str().ok());
    let disposition = header("content-disposition").and_then(|value| value.split_once("filename="));
    let given = disposition.map(|(_, name)| name.trim_matches('"')).or_else(|| header("x-file-name"));
    http::percent_decode(given.unwrap_or("file"))
}

/// `bytes a-b/total`: the start and the total.
fn content_range(call: &Call) -> Option<(usize, usize)> {
    let value = call.headers.get("content-range")?.to_str().ok()?;
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, total.parse().ok()?))
}
