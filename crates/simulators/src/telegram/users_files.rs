//! Files that users send: a test puts one here, and an update that names its ids then means it.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::simulators::World;
use crate::sync::lock;

use super::files::Origin;
use super::{images, media};

const KIND_DEFAULT: &str = "document";

/// A file as a test wants it.
pub(crate) struct FileWish {
    pub(crate) token: Option<String>,
    pub(crate) bytes: Bytes,
    pub(crate) name: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) kind: Option<String>,
    /// Seconds, of what can be played.
    pub(crate) duration: Option<u32>,
}

/// Keeps the file for one bot and gives its ids, and `message`: the field of a message that shows it.
pub(crate) fn put(world: &Arc<World>, wish: FileWish) -> Result<Value, String> {
    let bot = world.telegram.addressee(wish.token.as_deref())?;
    let kind = media::kind(wish.kind.as_deref().unwrap_or(KIND_DEFAULT))
        .ok_or("kind: must be document, photo, video, audio, animation or voice")?;
    let dimensions = images::dimensions(&wish.bytes);
    let size = wish.bytes.len();
    let name = wish.name.clone();
    let origin = Origin::User { name, bytes: wish.bytes, dimensions, mime_type: wish.mime_type.clone() };
    let file = lock(&world.telegram.state)
        .files
        .keep(world, bot.user.id, kind.folder, origin)
        .map_err(|_| "bytes_base64: there is no room for more files".to_owned())?;
    let mut object = media::object(kind, &file);
    if let Some(object) = object.as_object_mut() {
        // The same bytes are one file, whatever they were called; the message has the name it was sent with.
        if object.contains_key("file_name") {
            object.insert("file_name".to_owned(), json!(wish.name));
        }
        if let Some(mime_type) = wish.mime_type {
            object.insert("mime_type".to_owned(), json!(mime_type));
        }
        if let Some(duration) = wish.duration.filter(|_| object.contains_key("duration")) {
            object.insert("duration".to_owned(), json!(duration));
        }
    }
    Ok(json!({
        "file_id": file.file_id,
        "file_unique_id": file.unique_id,
        "file_size": size,
        "message": {kind.name: object},
    }))
}
