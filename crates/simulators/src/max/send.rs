//! POST /messages: from a body to a message with its `mid`.

use std::sync::Arc;

use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};

use crate::clock::unix_ms;
use crate::http;
use crate::params::Params;
use crate::sync::lock;

use super::attachments::{self, Attached};
use super::call::{Call, Said, recipient};
use super::chats::{ChatEntry, ChatKind, user_of_dialog};
use super::markup::{Markup, render};
use super::message::{Body, Message, RecipientShown, Stat, Stored, mid, place_of};
use super::problem::Problem;
use super::{State, keyboard};

const TEXT_UNITS_MAX: usize = 4000;

/// A checked `NewMessageBody`. `None` means absent or null, which an edit takes as "keep".
#[derive(Default)]
pub(super) struct NewMessage {
    pub(super) text: Option<(Arc<str>, Vec<Markup>)>,
    pub(super) attachments: Option<Vec<Value>>,
    pub(super) link: Option<Link>,
}

#[derive(Clone)]
pub(super) struct Link {
    kind: &'static str,
    mid: String,
}

#[derive(Serialize)]
struct Answer<'a> {
    message: &'a Message,
}

pub(super) fn send_message(call: &mut Call) -> Result<Response, Problem> {
    let recipient = recipient(&call.query)?;
    let params = call.json()?;
    let new = read(&params)?;
    let is_empty = new.text.as_ref().is_none_or(|(text, _)| text.is_empty())
        && new.attachments.as_ref().is_none_or(Vec::is_empty)
        && new.link.is_none();
    if is_empty {
        // The provider's words for it are not known; the class of the refusal is.
        return Err(Problem::payload("Message must have text, attachments or link"));
    }
    let bot = Arc::clone(call.bot()?);
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.max.state);
    let state = &mut *state;
    let chat = state.chats.open(recipient)?.clone();
    let link = link_shown(state, new.link.as_ref())?;
    let Attached { shown, files } = attachments::attach(call, state, &new.attachments.unwrap_or_default())?;
    let timestamp = unix_ms();
    let seq = state.messages.next_seq(timestamp);
    let place = (chat.chat_id, seq);
    let mid = mid(place);
    let (text, markup) = new.text.unzip();
    let markup = markup.unwrap_or_default();
    let only_forwards = text.is_none() && shown.is_empty();
    let is_channel = chat.kind == ChatKind::Channel;
    let message = Arc::new(Message {
        sender: (!is_channel).then(|| Arc::clone(&bot.user)),
        recipient: addressed(&chat),
        timestamp,
        link,
        body: (!only_forwards).then(|| Body {
            mid: Arc::clone(&mid),
            seq,
            text: text.clone(),
            attachments: shown,
            markup: markup.clone(),
        }),
        stat: is_channel.then_some(Stat { views: 0 }),
        url: is_channel.then(|| format!("https://max.ru/c/{}/{seq:x}", chat.chat_id)),
    });
    state.messages.insert(place, Stored::Own { bot_id: bot.user.user_id, message: Arc::clone(&message) });
    call.accept(Said { chat_id: chat.chat_id, text, markup, params, files, mid: Some(mid) });
    Ok(http::json(200, &Answer { message: &message }))
}

/// Checks everything about a body that needs no state.
pub(super) fn read(params: &Params) -> Result<NewMessage, Problem> {
    let format = match params.get("format") {
        None => None,
        Some(Value::String(format)) => Some(format.as_str()),
        Some(_) => return Err(Problem::undeserializable()),
    };
    let text = match params.get("text") {
        None => None,
        Some(Value::String(raw)) => {
            // The raw text is measured, markup included. In UTF-16 units: the unit is not documented.
            let units = if raw.len() > TEXT_UNITS_MAX { raw.encode_utf16().count() } else { 0 };
            if units > TEXT_UNITS_MAX {
                return Err(Problem::too_long("text", units, TEXT_UNITS_MAX));
            }
            let (text, markup) = render(raw, format).ok_or_else(Problem::undeserializable)?;
            Some((Arc::<str>::from(text), markup))
        }
        Some(_) => return Err(Problem::undeserializable()),
    };
    let attachments = match params.get("attachments") {
        None => None,
        Some(Value::Array(list)) => Some(list.clone()),
        Some(_) => return Err(Problem::undeserializable()),
    };
    if let Some(list) = &attachments {
        attachments::check(list)?;
        list.iter().filter(|item| item["type"] == "inline_keyboard").try_for_each(keyboard::check)?;
    }
    let link = params.get("link").map(read_link).transpose()?;
    let has_text = text.as_ref().is_some_and(|(text, _)| !text.is_empty());
    if has_text && link.as_ref().is_some_and(|link| link.kind == "forward") {
        return Err(Problem::payload("errors.forward.text.not-empty"));
    }
    if params.get("notify").is_some_and(|notify| !notify.is_boolean()) {
        return Err(Problem::undeserializable());
    }
    Ok(NewMessage { text, attachments, link })
}

fn read_link(link: &Value) -> Result<Link, Problem> {
    let kind = match link["type"].as_str() {
        Some("reply") => "reply",
        Some("forward") => "forward",
        _ => return Err(Problem::undeserializable()),
    };
    let mid = link["mid"].as_str().ok_or_else(Problem::undeserializable)?;
    Ok(Link { kind, mid: mid.to_owned() })
}

/// The linked message as the answer shows it.
pub(super) fn link_shown(state: &State, link: Option<&Link>) -> Result<Option<Box<Value>>, Problem> {
    let Some(link) = link else { return Ok(None) };
    let stored = place_of(&link.mid).and_then(|place| state.messages.get(place));
    let stored = stored.ok_or_else(|| Problem::not_found(format!("Message {} not found", link.mid)))?.shown();
    let mut shown = json!({
        "type": link.kind,
        "chat_id": stored["recipient"]["chat_id"],
        "message": stored["body"],
    });
    if let Some(sender) = stored.get("sender") {
        shown["sender"] = sender.clone();
    }
    Ok(Some(Box::new(shown)))
}

/// The recipient of a bot's message: in a dialog also the person.
pub(super) fn addressed(chat: &ChatEntry) -> RecipientShown {
    RecipientShown {
        chat_id: chat.chat_id,
        chat_type: chat.kind,
        user_id: (chat.kind == ChatKind::Dialog).then(|| user_of_dialog(chat.chat_id)),
    }
}
