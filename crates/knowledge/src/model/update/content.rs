//! What a message says: its text, links, files and command.

use serde_json::{Value, json};

use super::{rich, time};

const LINKS_MAX: usize = 50;
const LINK_BYTES_MAX: usize = 4096;
/// Of a rich message, which may have many.
const FILES_MAX: usize = 50;
/// Kinds of attachments that are one file.
const FILES: [&str; 8] = ["document", "video", "audio", "voice", "video_note", "animation", "sticker", "live_photo"];

pub(super) fn read(body: &Value) -> Vec<(&'static str, Value)> {
    let text = body["text"].as_str();
    let caption = body["caption"].as_str();
    let written = text.or(caption).unwrap_or_default();
    let entities = if text.is_some() { &body["entities"] } else { &body["caption_entities"] };
    let spoken = [Some(written.to_owned()), without_file(body)].into_iter().flatten().collect::<Vec<_>>().join("\n");
    let normalized = normalize(&spoken);
    vec![
        ("text", json!(text)),
        ("caption", json!(caption)),
        ("normalized_text", if normalized.is_empty() { Value::Null } else { json!(normalized) }),
        ("entities", entities.clone()),
        ("links", json!(links(written, &spoken, entities, body))),
        ("attachments", Value::Array(attachments(body))),
        ("command", json!(command(written))),
        ("mentions", json!(mentions(written, entities))),
    ]
}

/// What is indexed: no characters that nobody sees, one kind of line end.
fn normalize(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => {}
            '\r' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
            '\u{a0}' | '\u{202f}' => clean.push(' '),
            c if c.is_control() && c != '\n' && c != '\t' => {}
            c => clean.push(c),
        }
    }
    clean.trim().to_owned()
}

/// The words of what is neither text nor file.
fn without_file(body: &Value) -> Option<String> {
    let texts = |values: &[&Value]| {
        let found: Vec<&str> = values.iter().filter_map(|value| value.as_str()).filter(|text| !text.is_empty()).collect();
        (!found.is_empty()).then(|| found.join("\n"))
    };
    if body["poll"].is_object() {
        let options = body["poll"]["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        let all: Vec<&Value> =
            std::iter::once(&body["poll"]["question"]).chain(options.iter().map(|option| &option["text"])).collect();
        return texts(&all);
    }
    if body["checklist"].is_object() {
        let tasks = body["checklist"]["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let all: Vec<&Value> =
            std::iter::once(&body["checklist"]["title"]).chain(tasks.iter().map(|task| &task["text"])).collect();
        return texts(&all);
    }
    if body["rich_message"].is_object() {
        return rich::words(&body["rich_message"]);
    }
    if body["contact"].is_object() {
        let contact = &body["contact"];
        return texts(&[&contact["first_name"], &contact["last_name"], &contact["phone_number"]]);
    }
    texts(&[&body["venue"]["title"], &body["venue"]["address"]])
}

fn attachments(body: &Value) -> Vec<Value> {
    let mut found = files_of(body);
    for media in body["paid_media"]["paid_media"].as_array().map(Vec::as_slice).unwrap_or_default() {
        found.extend(files_of(media));
    }
    let mut blocks = Vec::new();
    rich::objects(&body["rich_message"], &mut blocks);
    for block in blocks {
        found.extend(files_of(block));
    }
    found.truncate(FILES_MAX);
    found
}

fn files_of(body: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    // Sizes of a picture come from the smallest to the largest.
    if let Some(photo) = body["photo"].as_array().and_then(|sizes| sizes.last()) {
        found.extend(file("photo", photo));
    }
    found.extend(file("voice", &body["voice_note"]));
    for kind in FILES {
        // An animation is named a second time as a document.
        if !(kind == "document" && body["animation"].is_object()) {
            found.extend(file(kind, &body[kind]));
        }
    }
    found
}

fn file(kind: &str, value: &Value) -> Option<Value> {
    let id = value["file_id"].as_str().filter(|id| !id.is_empty() && id.len() <= 500)?;
    let unique = value["file_unique_id"].as_str().filter(|id| !id.is_empty() && id.len() <= 200)?;
    Some(json!({
        "kind": kind, "file_id": id, "file_unique_id": unique, "mime": value["mime_type"].as_str(),
        "file_name": value["file_name"].as_str(), "size": value["file_size"].as_i64(), "width": value["width"].as_i64(),
        "height": value["height"].as_i64(), "duration": value["duration"].as_i64(),
    }))
}

/// A part of a text by UTF-16 offsets, as entities count; what reaches beyond the end, or into half a character, is cut there.
fn utf16_slice(text: &str, offset: u64, length: u64) -> String {
    let mut at = 0u64;
    let end = offset.saturating_add(length);
    let mut part = String::new();
    for c in text.chars() {
        if at >= end {
            break;
        }
        if at >= offset {
            part.push(c);
        }
        at += c.len_utf16() as u64;
    }
    part
}

fn entity_text(text: &str, entity: &Value) -> Option<String> {
    Some(utf16_slice(text, entity["offset"].as_u64()?, entity["length"].as_u64()?))
}

fn links(text: &str, spoken: &str, entities: &Value, body: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |link: String| {
        if is_link(&link) && !found.contains(&link) && found.len() < LINKS_MAX {
            found.push(link);
        }
    };
    for entity in entities.as_array().map(Vec::as_slice).unwrap_or_default() {
        match entity["type"].as_str() {
            Some("url") => add(entity_text(text, entity).unwrap_or_default()),
            Some("text_link") => add(entity["url"].as_str().unwrap_or_default().to_owned()),
            _ => {}
        }
    }
    let mut blocks = Vec::new();
    rich::objects(&body["rich_message"], &mut blocks);
    for block in blocks.iter().filter(|block| block["type"] == "url") {
        add(block["url"].as_str().unwrap_or_default().to_owned());
    }
    for word in spoken.split_whitespace() {
        let start = ["https://", "http://", "www."].iter().filter_map(|prefix| find_ignoring_case(word, prefix)).min();
        if let Some(start) = start {
            add(cut_punctuation(&word[start..]).to_owned());
        }
    }
    for row in body["reply_markup"]["inline_keyboard"].as_array().map(Vec::as_slice).unwrap_or_default() {
        for button in row.as_array().map(Vec::as_slice).unwrap_or_default() {
            add(button["url"].as_str().unwrap_or_default().to_owned());
        }
    }
    found
}

fn find_ignoring_case(word: &str, prefix: &str) -> Option<usize> {
    word.to_ascii_lowercase().find(prefix)
}

/// Any address but of other schemes: `tg://` and `mailto:` lead nowhere that can be fetched.
fn is_link(link: &str) -> bool {
    let lower = link.to_ascii_lowercase();
    let is_http = lower.starts_with("http://") || lower.starts_with("https://");
    let is_bare = !lower.contains("://") && !lower.contains('@') && lower.contains('.') && !lower.starts_with("mailto:");
    (is_http || is_bare) && link.len() <= LINK_BYTES_MAX && !link.contains(char::is_whitespace)
}

/// Punctuation after an address belongs to the sentence, and so does a bracket that was not opened inside.
fn cut_punctuation(mut link: &str) -> &str {
    loop {
        let before = link;
        link = link.trim_end_matches(['.', ',', ';', ':', '!', '?', '…', '"', '\'', '»', '”', '*', '_']);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
            if link.ends_with(close) && link.matches(close).count() > link.matches(open).count() {
                link = &link[..link.len() - 1];
            }
        }
        if link == before {
            return link;
        }
    }
}

fn command(text: &str) -> Option<Value> {
    let rest = text.strip_prefix('/')?;
    let (word, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, bot) = word.split_once('@').map_or((word, None), |(name, bot)| (name, Some(bot)));
    let is_name = !name.is_empty() && name.len() <= 32 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| json!({ "name": name.to_ascii_lowercase(), "args": args.trim(), "bot": bot }))
}

fn mentions(text: &str, entities: &Value) -> Vec<String> {
    let entities = entities.as_array().map(Vec::as_slice).unwrap_or_default();
    let named = entities.iter().filter(|entity| entity["type"] == "mention").filter_map(|entity| entity_text(text, entity));
    named.map(|mention| mention.trim_start_matches('@').to_lowercase()).collect()
}

pub(super) fn forward_origin(body: &Value) -> Option<Value> {
    let origin = &body["forward_origin"];
    let kind = origin["type"].as_str()?;
    let user = &origin["sender_user"];
    let name = [user["first_name"].as_str(), user["last_name"].as_str()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let chat = if kind == "channel" { &origin["chat"] } else { &origin["sender_chat"] };
    let name = if name.is_empty() {
        origin["sender_user_name"].as_str().or(chat["title"].as_str()).map(ToOwned::to_owned)
    } else {
        Some(name)
    };
    Some(json!({
        "type": kind, "date": time(&origin["date"]), "tg_user_id": user["id"].as_i64(), "name": name,
        "chat_id": chat["id"].as_i64(), "message_id": origin["message_id"].as_i64(),
        "signature": origin["author_signature"].as_str(),
    }))
}
