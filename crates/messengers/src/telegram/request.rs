//! What is sent to Telegram: a method, its parameters, and the files beside them.

use reqwest::RequestBuilder;
use reqwest::multipart::Form;
use serde_json::{Map, Value, json};

use crate::answer::joined;
use crate::multipart::part;
use crate::{Button, Media, MediaKind, MediaSource, Meta, ParseMode};

pub(super) struct TelegramCall {
    method: &'static str,
    params: Map<String, Value>,
    /// In the order of `attach://file0`, `attach://file1`, …
    files: Vec<MediaSource>,
}

impl TelegramCall {
    pub(super) fn new(method: &'static str) -> Self {
        Self { method, params: Map::new(), files: Vec::new() }
    }

    /// A text with its buttons, new or edited.
    pub(super) fn text(method: &'static str, text: &str, meta: &Meta) -> Self {
        let mut call = Self::new(method);
        call.set("text", text);
        call.set("link_preview_options", json!({"is_disabled": meta.disable_preview}));
        call.mark_up(meta);
        call.add_buttons(meta);
        call
    }

    pub(super) fn caption(text: &str, meta: &Meta) -> Self {
        let mut call = Self::new("editMessageCaption");
        call.set("caption", text);
        call.mark_up(meta);
        call.add_buttons(meta);
        call
    }

    pub(super) fn single(item: &Media, text: Option<&str>, meta: &Meta) -> Self {
        let (method, name) = match item.kind {
            MediaKind::Image => ("sendPhoto", "photo"),
            MediaKind::Video => ("sendVideo", "video"),
            MediaKind::Audio => ("sendAudio", "audio"),
            MediaKind::File => ("sendDocument", "document"),
        };
        let mut call = Self::new(method);
        let source = call.attach(&item.source);
        call.set(name, source);
        if let Some(caption) = joined([text, item.caption.as_deref()]) {
            call.set("caption", caption);
            call.mark_up(meta);
        }
        call.add_buttons(meta);
        call
    }

    /// The text goes to the first item: clients show a caption that stands alone as the caption of the whole album.
    pub(super) fn album(items: &[Media], text: Option<&str>, meta: &Meta) -> Self {
        let mut call = Self::new("sendMediaGroup");
        let mut list = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let mut shown = json!({"type": kind_name(item.kind), "media": call.attach(&item.source)});
            let shared = text.filter(|_| index == 0);
            if let Some(caption) = joined([shared, item.caption.as_deref()]) {
                shown["caption"] = json!(caption);
                if let Some(mode) = parse_mode(meta) {
                    shown["parse_mode"] = json!(mode);
                }
            }
            list.push(shown);
        }
        call.set("media", list);
        call
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.params.insert(name.to_owned(), value.into());
    }

    /// Only new messages make a sound.
    pub(super) fn silence(&mut self, meta: &Meta) {
        if meta.is_silent {
            self.set("disable_notification", true);
        }
    }

    /// Where in the chat a text stands. What it answers may be gone by now: then it stands alone.
    pub(super) fn place(&mut self, meta: &Meta) {
        if let Some(thread_id) = meta.thread_id {
            self.set("message_thread_id", thread_id);
        }
        if let Some(message_id) = meta.reply_to_message_id {
            self.set("reply_parameters", json!({"message_id": message_id, "allow_sending_without_reply": true}));
        }
    }

    pub(super) const fn method(&self) -> &'static str {
        self.method
    }

    /// Puts the call into the body of a request.
    pub(super) fn write(&self, request: RequestBuilder) -> RequestBuilder {
        if self.files.is_empty() {
            return request.json(&self.params);
        }
        let mut form = Form::new();
        for (name, value) in &self.params {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            form = form.text(name.clone(), text);
        }
        for (index, file) in self.files.iter().enumerate() {
            if let MediaSource::File { name, content_type, bytes } = file {
                form = form.part(part_name(index), part(name, content_type, bytes));
            }
        }
        request.multipart(form)
    }

    /// What stands for a source in the parameters; the bytes are kept for the body.
    fn attach(&mut self, source: &MediaSource) -> String {
        match source {
            MediaSource::FileId(file_id) => file_id.clone(),
            MediaSource::Url(url) => url.clone(),
            MediaSource::File { .. } => {
                self.files.push(source.clone());
                format!("attach://{}", part_name(self.files.len() - 1))
            }
        }
    }

    fn mark_up(&mut self, meta: &Meta) {
        if let Some(mode) = parse_mode(meta) {
            self.set("parse_mode", mode);
        }
    }

    fn add_buttons(&mut self, meta: &Meta) {
        let rows: Vec<Value> =
            meta.buttons.iter().filter(|row| !row.is_empty()).map(|row| row.iter().map(button).collect()).collect();
        if !rows.is_empty() {
            self.set("reply_markup", json!({"inline_keyboard": rows}));
        }
    }
}

/// An id as a number, when it is one, and as text, when it is a name.
pub(super) fn id(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number))
}

fn part_name(index: usize) -> String {
    format!("file{index}")
}

/// As `InputMedia` and the fields of a message call it.
pub(super) const fn kind_name(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "photo",
        MediaKind::Video => "video",
        MediaKind::Audio => "audio",
        MediaKind::File => "document",
    }
}

const fn parse_mode(meta: &Meta) -> Option<&'static str> {
    match meta.parse_mode {
        ParseMode::Html => Some("HTML"),
        ParseMode::Markdown => Some("Markdown"),
        ParseMode::None => None,
    }
}

/// One without an address and without a payload goes as it is, and Telegram refuses it.
fn button(button: &Button) -> Value {
    match (&button.url, &button.payload) {
        (Some(url), _) => json!({"text": button.text, "url": url}),
        (None, Some(payload)) => json!({"text": button.text, "callback_data": payload}),
        (None, None) => json!({"text": button.text}),
    }
}
