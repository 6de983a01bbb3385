//! A message of an export as the update that a bot would have been sent.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{reader::ExportChat, text};

/// Why a message is not taken. A broken one cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    Skipped(&'static str),
    Broken(String),
}

/// A file that the message names, by a path that is not judged yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedFile {
    pub(super) path: String,
    /// The field of the update that carries it.
    pub(super) kind: &'static str,
    pub(super) mime: Option<String>,
    pub(super) name: Option<String>,
}

/// What is said of a message's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileNote {
    Absent,
    Named(NamedFile),
    /// Stickers, animations, videos: no text can be made of them.
    WithoutText,
    /// Whoever made the export left it out.
    NotIncluded,
}

#[derive(Debug)]
pub(super) struct ReadMessage {
    pub(super) update: Value,
    pub(super) file: FileNote,
}

/// The topics that messages of a chat belong to, as far as the export was read.
pub(super) type Topics = HashMap<i64, i64>;

pub(super) fn read(chat: &ExportChat, message: &Value, topics: &mut Topics) -> Result<ReadMessage, NotTaken> {
    let broken = |field: &str| NotTaken::Broken(format!("`{field}` is missing or not what it should be"));
    if !message.is_object() {
        return Err(NotTaken::Broken("it is not an object".to_owned()));
    }
    let id = message["id"].as_i64().filter(|id| i32::try_from(*id).is_ok() && *id != 0).ok_or_else(|| broken("id"))?;
    let date = seconds(&message["date_unixtime"]).ok_or_else(|| broken("date_unixtime"))?;
    let edited = match &message["edited_unixtime"] {
        Value::Null => None,
        value => Some(seconds(value).ok_or_else(|| broken("edited_unixtime"))?),
    };
    let reply = message["reply_to_message_id"].as_i64().filter(|_| message["reply_to_peer_id"].is_null());
    let topic = reply.and_then(|to| topics.get(&to).copied());
    if let Some(topic) = topic {
        topics.insert(id, topic);
    }
    let is_post = chat.chat_type == "channel";
    let mut body = json!({
        "message_id": chat.number(id), "date": date, "imported": true,
        "chat": { "id": chat.chat_id, "type": chat.chat_type, "title": chat.title },
    });
    if let Some(topic) = topic {
        body["message_thread_id"] = json!(topic);
        body["is_topic_message"] = json!(true);
    }
    if let Some(reply) = reply.filter(|to| Some(*to) != topic) {
        body["reply_to_message"] = json!({ "message_id": chat.number(reply) });
    }
    let mut file = FileNote::Absent;
    match message["type"].as_str() {
        Some("service") => {
            set_sender(&mut body, &message["actor_id"], &message["actor"]);
            read_service(&mut body, message, id, topics)?;
        }
        Some("message") => {
            set_sender(&mut body, &message["from_id"], &message["from"]);
            if is_post {
                body["sender_chat"] = body["chat"].clone();
                body["author_signature"] = message["author"].clone();
            }
            file = read_file(message);
            read_content(&mut body, message, &file);
        }
        _ => return Err(broken("type")),
    }
    if chat.person.is_some() && body["from"]["id"].as_i64() != chat.person {
        return Err(NotTaken::Skipped("said by somebody else in a private chat"));
    }
    let kind = match (is_post, edited) {
        (false, None) => "message",
        (false, Some(_)) => "edited_message",
        (true, None) => "channel_post",
        (true, Some(_)) => "edited_channel_post",
    };
    if let Some(edited) = edited {
        body["edit_date"] = json!(edited.max(date));
    }
    Ok(ReadMessage { update: json!({ "update_id": id, kind: body }), file })
}

/// Puts the bytes of a file into the update, under a name that their content gives.
pub(super) fn attach(update: &mut Value, file: &NamedFile, sha256: &str, bytes: usize) {
    let unique = format!("import-{}", &sha256[..32]);
    let Some(body) = update.as_object_mut().and_then(|update| update.values_mut().find(|value| value.is_object())) else {
        return;
    };
    let value = json!({
        "file_id": unique, "file_unique_id": unique, "mime_type": file.mime, "file_name": file.name, "file_size": bytes,
    });
    body[file.kind] = if file.kind == "photo" { json!([value]) } else { value };
}

fn seconds(value: &Value) -> Option<i64> {
    let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|seconds| (0..=253_402_300_799).contains(seconds))
}

/// `user123`, `channel123`; very old exports have a bare number.
fn set_sender(body: &mut Value, id: &Value, name: &Value) {
    let name = name.as_str().map(text::clean);
    if let Some(user) = user_id(id) {
        body["from"] = json!({ "id": user, "first_name": name });
    } else if let Some(channel) = id.as_str().and_then(|id| id.strip_prefix("channel")?.parse::<i64>().ok()) {
        body["sender_chat"] = json!({ "id": super::reader::channel_id(channel), "title": name });
    }
}

fn user_id(id: &Value) -> Option<i64> {
    let number = id.as_i64().or_else(|| id.as_str()?.strip_prefix("user")?.parse().ok());
    number.filter(|id| *id > 0)
}

fn read_content(body: &mut Value, message: &Value, file: &FileNote) {
    let (said, entities) = text::read(message);
    let has_media = *file != FileNote::Absent;
    let (text_field, entities_field) = if has_media { ("caption", "caption_entities") } else { ("text", "entities") };
    if !said.is_empty() {
        body[text_field] = json!(said);
        body[entities_field] = json!(entities);
    }
    if message["poll"].is_object() {
        let answers = message["poll"]["answers"].as_array().map(Vec::as_slice).unwrap_or_default();
        let options: Vec<Value> = answers.iter().map(|answer| json!({ "text": words(&answer["text"]) })).collect();
        body["poll"] = json!({ "question": words(&message["poll"]["question"]), "options": options });
    }
    let origin = &message["forwarded_from_id"];
    let name = message["forwarded_from"].as_str().map(text::clean);
    if let Some(user) = user_id(origin) {
        body["forward_origin"] = json!({ "type": "user", "sender_user": { "id": user, "first_name": name } });
    } else if let Some(channel) = origin.as_str().and_then(|id| id.strip_prefix("channel")?.parse::<i64>().ok()) {
        let chat = json!({ "id": super::reader::channel_id(channel), "title": name });
        body["forward_origin"] = json!({ "type": "channel", "chat": chat });
    } else if name.is_some() {
        body["forward_origin"] = json!({ "type": "hidden_user", "sender_user_name": name });
    }
}

/// Texts of polls are plain, or pieces as other texts.
fn words(value: &Value) -> String {
    text::read(&json!({ "text": value })).0
}

fn read_file(message: &Value) -> FileNote {
    let (path, kind) = match (&message["photo"], &message["file"], message["media_type"].as_str()) {
        (Value::String(path), _, _) => (path, "photo"),
        (_, Value::String(path), kind) => {
            let kind = match kind {
                None => "document",
                Some("voice_message") => "voice",
                Some("video_message") => "video_note",
                Some("audio_file") => "audio",
                Some(_) => return FileNote::WithoutText,
            };
            (path, kind)
        }
        _ => return FileNote::Absent,
    };
    if path.is_empty() || path.starts_with('(') {
        return FileNote::NotIncluded;
    }
    let short = |value: &Value, chars| value.as_str().map(|text| text::clean(text).chars().take(chars).collect::<String>());
    let own = path.rsplit('/').next().filter(|_| kind == "document");
    let name = short(&message["file_name"], 500).or_else(|| own.map(text::clean));
    FileNote::Named(NamedFile { path: path.clone(), kind, mime: short(&message["mime_type"], 200), name })
}

/// Who came, went, what was pinned, which topic began. Members that were added or removed by others have only names.
fn read_service(body: &mut Value, message: &Value, id: i64, topics: &mut Topics) -> Result<(), NotTaken> {
    let is_oneself = message["members"] == json!([message["actor"]]) && message["actor"].is_string();
    let actor = body["from"].clone();
    match message["action"].as_str() {
        Some("topic_created") => {
            topics.insert(id, id);
            body["message_thread_id"] = json!(id);
            body["is_topic_message"] = json!(true);
            body["chat"]["is_forum"] = json!(true);
            body["forum_topic_created"] = json!({ "name": message["title"].as_str().map(text::clean) });
        }
        Some("join_group_by_link" | "join_group_by_request") if actor.is_object() => body["new_chat_members"] = json!([actor]),
        Some("invite_members") if is_oneself && actor.is_object() => body["new_chat_members"] = json!([actor]),
        Some("remove_members") if is_oneself && actor.is_object() => body["left_chat_member"] = actor,
        Some("pin_message") if message["message_id"].is_i64() => {
            body["pinned_message"] = json!({ "message_id": message["message_id"] });
        }
        _ => return Err(NotTaken::Skipped("service message")),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
