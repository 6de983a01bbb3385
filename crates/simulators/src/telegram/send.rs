//! sendMessage, and the one road by which every new message gets its id, its place in the store and the ledger.

use std::sync::Arc;

use serde_json::Value;

use crate::clock::unix_ms;
use crate::faults::Provider;
use crate::ledger::{Accepted, FileNote, MessageId};
use crate::sync::lock;

use super::State;
use super::bots::Bot;
use super::call::{Call, Outcome, success};
use super::chats::{Chat, ChatEntry, ChatKind, Intent};
use super::entity::{Entity, Formatted};
use super::errors::Refusal;
use super::message::{Content, Message, Stored};
use super::{keyboard, text};

pub(super) fn send_message(call: &mut Call) -> Outcome {
    let Formatted { text, entities } = text::message(&call.params)?;
    let content = Content {
        text: Some(text.into()),
        entities,
        link_preview_options: link_preview(call)?,
        reply_markup: keyboard::read(&call.params)?,
        ..Content::default()
    };
    let messages = post(call, "text messages", vec![content], Vec::new())?;
    success(&*messages[0])
}

/// Posts one message, or the items of an album, after the checks of the chat.
pub(super) fn post(
    call: &mut Call,
    what: &'static str,
    contents: Vec<Content>,
    files: Vec<FileNote>,
) -> Result<Vec<Arc<Message>>, Refusal> {
    let target = call.target.clone().unwrap_or_default();
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.telegram.state);
    let state = &mut *state;
    let chat_id = state.chats.resolve(&target)?;
    let chat = Arc::clone(&state.chats.open(chat_id, Intent::Write(what))?.chat);
    let reply_to = reply_target(call, state, chat_id)?;
    let album = (contents.len() > 1).then(|| {
        state.last_album += 1;
        Arc::from((14_000_000_000_000_000_u64 + state.last_album).to_string())
    });
    let first = contents.first().cloned().unwrap_or_default();
    let mut messages = Vec::with_capacity(contents.len());
    for content in contents {
        let message_id = state.chats.entry(chat_id).map_or(1, ChatEntry::next_message_id);
        let mut message = compose(&call.bot, &chat, message_id, content);
        message.media_group_id.clone_from(&album);
        message.reply_to_message.clone_from(&reply_to);
        let message = Arc::new(message);
        let stored = Stored::Own { bot_id: call.bot.user.id, message: Arc::clone(&message) };
        state.messages.insert(chat_id, message_id, stored);
        messages.push(message);
    }
    let message_ids = messages.iter().map(|message| MessageId::Int(message.message_id)).collect();
    accept(call, chat_id, &first, files, message_ids);
    Ok(messages)
}

/// Writes an accepted call into the ledger, with the text people see.
pub(super) fn accept(call: &mut Call, chat_id: i64, content: &Content, files: Vec<FileNote>, message_ids: Vec<MessageId>) {
    let entities = if content.text.is_some() { &content.entities } else { &content.caption_entities };
    let accepted = Accepted {
        provider: Provider::Telegram,
        bot_id: call.bot.user.id,
        method: call.method,
        target: call.target.clone().unwrap_or_default(),
        chat_id,
        text: content.text.clone().or_else(|| content.caption.clone()),
        parse_mode: call.params.text("parse_mode").map(Into::into),
        entities: listed(entities),
        params: std::mem::take(&mut call.params),
        files,
        message_ids,
    };
    call.accept(accepted);
}

fn compose(bot: &Bot, chat: &Arc<Chat>, message_id: i64, content: Content) -> Message {
    let is_channel = chat.kind == ChatKind::Channel;
    Message {
        message_id,
        from: (!is_channel).then(|| Arc::clone(&bot.user)),
        sender_chat: is_channel.then(|| Arc::clone(chat)),
        chat: Arc::clone(chat),
        date: unix_ms() / 1000,
        edit_date: None,
        media_group_id: None,
        reply_to_message: None,
        content,
    }
}

fn listed(entities: &[Entity]) -> Option<Box<Value>> {
    if entities.is_empty() {
        return None;
    }
    serde_json::to_value(entities).ok().map(Box::new)
}

/// The message replied to. `reply_to_message_id` is the old spelling, still accepted by the server.
fn reply_target(call: &Call, state: &State, chat_id: i64) -> Result<Option<Box<Value>>, Refusal> {
    let given = call.params.json("reply_parameters").transpose();
    let given = given.map_err(|_| Refusal::bad_request("can't parse reply parameters JSON object"))?;
    let (message_id, tolerant) = match given.as_deref() {
        Some(parameters) => {
            (parameters["message_id"].as_i64(), parameters["allow_sending_without_reply"].as_bool().unwrap_or(false))
        }
        None => (call.params.int("reply_to_message_id"), call.params.flag("allow_sending_without_reply")),
    };
    let Some(message_id) = message_id.filter(|id| *id != 0) else {
        return Ok(None);
    };
    match state.messages.get(chat_id, message_id) {
        Some(stored) => Ok(Some(Box::new(stored.as_reply_target()))),
        None if tolerant => Ok(None),
        None => Err(Refusal::bad_request("message to be replied not found")),
    }
}

/// Shown back by the server; `disable_web_page_preview` is the old spelling.
pub(super) fn link_preview(call: &Call) -> Result<Option<Box<Value>>, Refusal> {
    match call.params.json("link_preview_options") {
        Some(Ok(options)) => Ok(Some(Box::new(options.into_owned()))),
        Some(Err(_)) => Err(Refusal::bad_request("can't parse link preview options JSON object")),
        None if call.params.flag("disable_web_page_preview") => Ok(Some(Box::new(serde_json::json!({"is_disabled": true})))),
        None => Ok(None),
    }
}
