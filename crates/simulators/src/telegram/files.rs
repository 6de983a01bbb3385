//! Files the bots uploaded or named by URL, and files of users: their ids, getFile, and the download.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use serde_json::json;

use crate::connection::Connection;
use crate::exchange::{Asked, Manners, Reply, exchange};
use crate::faults::Provider;
use crate::http;
use crate::ledger::FileNote;
use crate::params::Params;
use crate::simulators::World;
use crate::sync::lock;
use crate::vault::{hex, sha256};

use super::bots;
use super::call::{Call, Outcome, success};
use super::errors::Refusal;

const DOWNLOAD_BYTES_MAX: usize = 20 * 1024 * 1024;
const FILES_MAX: usize = 100_000;

pub(super) struct StoredFile {
    /// Usable by this bot only.
    pub(super) file_id: String,
    /// The same for all bots, and not usable for a download.
    pub(super) unique_id: String,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) mime_type: Cow<'static, str>,
    pub(super) dimensions: Option<(u32, u32)>,
    pub(super) note: FileNote,
    /// `None` for a file named by URL: the simulator fetches nothing.
    bytes: Option<Bytes>,
    bot_id: i64,
}

/// What makes a file: bytes of a part, or an address.
pub(super) enum Origin {
    Upload {
        name: String,
        bytes: Bytes,
        dimensions: Option<(u32, u32)>,
    },
    Url(String),
    /// What a user sent, with the type the user's program gave.
    User {
        name: String,
        bytes: Bytes,
        dimensions: Option<(u32, u32)>,
        mime_type: Option<String>,
    },
}

#[derive(Default)]
pub(super) struct Files {
    by_id: HashMap<String, Arc<StoredFile>>,
    by_path: HashMap<(i64, String), Arc<StoredFile>>,
}

impl Files {
    pub(super) fn find(&self, bot_id: i64, file_id: &str) -> Option<&Arc<StoredFile>> {
        self.by_id.get(file_id).filter(|file| file.bot_id == bot_id)
    }

    /// Keeps a file. The same bytes of the same bot are one file, as on the server.
    pub(super) fn keep(&mut self, world: &World, bot_id: i64, folder: &str, origin: Origin) -> Result<Arc<StoredFile>, Refusal> {
        let mut given_type = None;
        let (name, bytes, dimensions, url) = match origin {
            Origin::Upload { name, bytes, dimensions } => (name, Some(bytes), dimensions, None),
            Origin::Url(url) => (url.rsplit('/').next().unwrap_or_default().to_owned(), None, None, Some(url)),
            Origin::User { name, bytes, dimensions, mime_type } => {
                given_type = mime_type;
                (name, Some(bytes), dimensions, None)
            }
        };
        let digest = bytes.as_ref().map(|bytes| sha256(bytes));
        let identity = digest.unwrap_or_else(|| sha256(url.as_deref().unwrap_or_default().as_bytes()));
        let unique_id = format!("AQAD{}", hex(&identity[..10]));
        let file_id = format!("AgACAgIAAxk{}", hex(&sha256(format!("{bot_id}/{folder}/{unique_id}").as_bytes())[..24]));
        if let Some(known) = self.by_id.get(&file_id) {
            return Ok(Arc::clone(known));
        }
        let size = bytes.as_ref().map_or(0, Bytes::len);
        if !world.vault.admit(size) || self.by_id.len() >= FILES_MAX {
            return Err(Refusal::too_large());
        }
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let suffix = match (folder, extension.as_str()) {
            ("photos", _) => "jpg",
            ("voice", _) => "oga",
            (_, "") => "bin",
            (_, extension) => extension,
        };
        let file = Arc::new(StoredFile {
            path: format!("{folder}/file_{}.{suffix}", self.by_id.len()),
            mime_type: given_type.map_or_else(|| mime_type(folder, &extension).into(), Cow::Owned),
            note: FileNote { name: name.clone(), size, sha256: digest.map(|digest| hex(&digest)), url },
            file_id,
            unique_id,
            name,
            dimensions,
            bytes,
            bot_id,
        });
        self.by_id.insert(file.file_id.clone(), Arc::clone(&file));
        self.by_path.insert((bot_id, file.path.clone()), Arc::clone(&file));
        Ok(file)
    }
}

pub(super) fn get_file(call: &Call) -> Outcome {
    let file_id = call.params.text("file_id").unwrap_or_default();
    if file_id.is_empty() {
        return Err(Refusal::bad_request("file_id not specified"));
    }
    let state = lock(&call.world.telegram.state);
    let Some(file) = state.files.find(call.bot.user.id, &file_id) else {
        return Err(Refusal::bad_request("invalid file_id"));
    };
    let Some(bytes) = &file.bytes else {
        return Err(Refusal::bad_request("wrong file_id or the file is temporarily unavailable"));
    };
    if bytes.len() > DOWNLOAD_BYTES_MAX {
        return Err(Refusal::bad_request("file is too big"));
    }
    success(&json!({
        "file_id": file.file_id,
        "file_unique_id": file.unique_id,
        "file_size": bytes.len(),
        "file_path": file.path,
    }))
}

/// `/file/bot<token>/<path>`. Faults name it `download`, with the path as the target.
pub(super) async fn download(world: Arc<World>, token: &str, path: String, connection: Option<Connection>) -> Response {
    let asked = Asked {
        world: Arc::clone(&world),
        provider: Provider::Telegram,
        bot_id: bots::bot_id(token).unwrap_or(0),
        method: "download",
        target: path.as_str().into(),
        params: Params::default(),
        files: Vec::new(),
        weight: 0,
        connection,
    };
    let token = token.to_owned();
    exchange(asked, MANNERS, async move {
        match find_bytes(&world, &token, path) {
            Ok(bytes) => {
                let response = http::bytes(200, "application/octet-stream", bytes);
                Reply { response, error: None, is_accepted: false }
            }
            Err(refusal) => {
                let error = Some(refusal.description.to_string());
                Reply { response: refusal.response(), error, is_accepted: false }
            }
        }
    })
    .await
}

const MANNERS: Manners = Manners { own_error: file_error, has_retry_header: true };

fn file_error(status: u16, retry_after: Option<u32>) -> Response {
    Refusal::of_status(status, retry_after, &Refusal::forbidden("the file is not for this bot")).response()
}

fn find_bytes(world: &World, token: &str, path: String) -> Result<Bytes, Refusal> {
    let mut state = lock(&world.telegram.state);
    let bot = state.bots.find(token)?;
    let file = state.files.by_path.get(&(bot.user.id, path));
    file.and_then(|file| file.bytes.clone()).ok_or_else(Refusal::not_found)
}

fn mime_type(folder: &str, extension: &str) -> &'static str {
    match (folder, extension) {
        (_, "pdf") => "application/pdf",
        (_, "txt") => "text/plain",
        (_, "json") => "application/json",
        (_, "csv") => "text/csv",
        (_, "png") => "image/png",
        (_, "jpg" | "jpeg") => "image/jpeg",
        (_, "gif") => "image/gif",
        (_, "zip") => "application/zip",
        (_, "ogg" | "oga") | ("voice", _) => "audio/ogg",
        (_, "mp3") | ("music", _) => "audio/mpeg",
        (_, "mp4") | ("videos" | "animations", _) => "video/mp4",
        _ => "application/octet-stream",
    }
}
