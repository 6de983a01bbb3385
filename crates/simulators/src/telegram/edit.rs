//! Edits and deletions. Only the bot's own messages can be edited; an edit that changes nothing is refused.

use std::sync::Arc;

use crate::clock::unix_ms;
use crate::ledger::{FileNote, MessageId};
use crate::sync::lock;

use super::call::{Call, Outcome, success};
use super::chats::Intent;
use super::entity::Formatted;
use super::errors::Refusal;
use super::message::{Content, Message, Stored};
use super::{album, keyboard, send, text};

const NOT_MODIFIED: &str = "message is not modified: specified new message content and reply markup are exactly the \
                            same as a current content and reply markup of the message";
const DELETE_MAX: usize = 100;

pub(super) fn edit_message_text(call: &mut Call) -> Outcome {
    let Formatted { text, entities } = text::message(&call.params).map_err(|refusal| {
        // The service, not the server, measures an edit, and says so in its own way.
        if refusal.description.ends_with("message is too long") { Refusal::bad_request("MESSAGE_TOO_LONG") } else { refusal }
    })?;
    let link_preview_options = send::link_preview(call)?;
    let reply_markup = keyboard::read(&call.params)?;
    edit(call, Vec::new(), |old| {
        if old.text.is_none() {
            return Err(Refusal::bad_request("there is no text in the message to edit"));
        }
        Ok(Content { text: Some(text.into()), entities, link_preview_options, reply_markup, ..Content::default() })
    })
}

pub(super) fn edit_message_caption(call: &mut Call) -> Outcome {
    let Formatted { text, entities } = text::caption(&call.params)?;
    let reply_markup = keyboard::read(&call.params)?;
    edit(call, Vec::new(), |old| {
        if old.media.is_none() {
            return Err(Refusal::bad_request("there is no caption in the message to edit"));
        }
        let caption = (!text.is_empty()).then(|| text.into());
        Ok(Content { caption, caption_entities: entities, reply_markup, media: old.media.clone(), ..Content::default() })
    })
}

pub(super) fn edit_message_media(call: &mut Call) -> Outcome {
    let given = call.params.json("media").transpose();
    let given = given.map_err(|_| Refusal::bad_request("can't parse media JSON object"))?;
    let Some(given) = given.as_deref() else {
        return Err(Refusal::bad_request("can't parse InputMedia: expected an Object"));
    };
    let item = album::read_item(call, given)?;
    let (mut content, file) = album::content(call, &item)?;
    content.reply_markup = keyboard::read(&call.params)?;
    edit(call, file.into_iter().collect(), |_| Ok(content))
}

pub(super) fn edit_message_reply_markup(call: &mut Call) -> Outcome {
    let reply_markup = keyboard::read(&call.params)?;
    edit(call, Vec::new(), |old| Ok(Content { reply_markup, ..old.clone() }))
}

fn edit(call: &mut Call, files: Vec<FileNote>, change: impl FnOnce(&Content) -> Result<Content, Refusal>) -> Outcome {
    let target = call.target.clone().unwrap_or_default();
    let message_id = message_id(call)?;
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.telegram.state);
    let state = &mut *state;
    let chat_id = state.chats.resolve(&target)?;
    state.chats.open(chat_id, Intent::Write("text messages"))?;
    let old = match state.messages.get(chat_id, message_id) {
        None => return Err(Refusal::bad_request("message to edit not found")),
        Some(Stored::Own { bot_id, message }) if *bot_id == call.bot.user.id => Arc::clone(message),
        Some(_) => return Err(Refusal::bad_request("message can't be edited")),
    };
    let content = change(&old.content)?;
    if content == old.content {
        return Err(Refusal::bad_request(NOT_MODIFIED));
    }
    let edited = Arc::new(Message { edit_date: Some(unix_ms() / 1000), content, ..(*old).clone() });
    let stored = Stored::Own { bot_id: call.bot.user.id, message: Arc::clone(&edited) };
    state.messages.insert(chat_id, message_id, stored);
    send::accept(call, chat_id, &edited.content, files, vec![MessageId::Int(message_id)]);
    success(&*edited)
}

pub(super) fn delete_message(call: &mut Call) -> Outcome {
    let message_id = message_id(call)?;
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.telegram.state);
    let state = &mut *state;
    let chat_id = state.chats.resolve(call.target.as_deref().unwrap_or_default())?;
    state.chats.open(chat_id, Intent::Read)?;
    if !state.messages.remove(chat_id, message_id) {
        return Err(Refusal::bad_request("message to delete not found"));
    }
    send::accept(call, chat_id, &Content::default(), Vec::new(), vec![MessageId::Int(message_id)]);
    success(&true)
}

/// Messages that are not there are skipped without a word.
pub(super) fn delete_messages(call: &mut Call) -> Outcome {
    let given = call.params.json("message_ids").and_then(Result::ok);
    let ids: Option<Vec<i64>> = given.and_then(|given| {
        let list = given.as_array()?;
        list.iter().map(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok())).collect()
    });
    let Some(ids) = ids.filter(|ids| !ids.is_empty()) else {
        return Err(Refusal::bad_request("message identifiers are not specified"));
    };
    if ids.len() > DELETE_MAX {
        return Err(Refusal::bad_request("too many message identifiers specified"));
    }
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.telegram.state);
    let state = &mut *state;
    let chat_id = state.chats.resolve(call.target.as_deref().unwrap_or_default())?;
    state.chats.open(chat_id, Intent::Read)?;
    for message_id in &ids {
        state.messages.remove(chat_id, *message_id);
    }
    let message_ids = ids.into_iter().map(MessageId::Int).collect();
    send::accept(call, chat_id, &Content::default(), Vec::new(), message_ids);
    success(&true)
}

fn message_id(call: &Call) -> Result<i64, Refusal> {
    let given = call.params.int("message_id").filter(|id| *id > 0);
    given.ok_or_else(|| Refusal::bad_request("message identifier is not specified"))
}
