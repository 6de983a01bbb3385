//! PUT and DELETE /messages, and POST /answers, which replaces a message in place.

use std::sync::Arc;

use axum::response::Response;
use serde_json::Value;

use crate::params::Params;
use crate::sync::lock;

use super::attachments::{self, Attached};
use super::call::{Call, Said};
use super::message::{Body, Message, Place, Stored, mid, place_of};
use super::problem::Problem;
use super::send::{self, NewMessage};
use super::{State, done, undone};

pub(super) fn edit_message(call: &mut Call) -> Result<Response, Problem> {
    let place = named_message(call)?;
    let params = call.json()?;
    let new = send::read(&params)?;
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.max.state);
    let own_id = call.bot()?.user.user_id;
    match state.messages.get(place) {
        None => return Err(unknown(call)),
        Some(Stored::Own { bot_id, .. }) if *bot_id == own_id => {}
        Some(_) => return Ok(undone("Only own messages can be edited")),
    }
    match replace(call, &mut state, place, new) {
        Ok(said) => call.accept(Said { params, ..said }),
        // Here the provider was seen to refuse with a 200.
        Err(problem) if problem.code == "attachment.not.ready" => {
            return Ok(undone(&problem.message));
        }
        Err(problem) => return Err(problem),
    }
    Ok(done())
}

pub(super) fn delete_message(call: &mut Call) -> Result<Response, Problem> {
    let place = named_message(call)?;
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.max.state);
    if !state.messages.remove(place) {
        return Err(unknown(call));
    }
    call.accept(Said { chat_id: place.0, mid: Some(mid(place)), ..Said::default() });
    Ok(done())
}

/// Answers a pressed button with a notification, a replaced message, or both.
pub(super) fn answer(call: &mut Call) -> Result<Response, Problem> {
    let callback_id = call.query.text("callback_id").ok_or_else(|| Problem::missing("callback_id"))?;
    let pressed = lock(&call.bot()?.inbox).callback(&callback_id);
    let Some(place) = pressed else {
        return Err(Problem::payload("callback_id: Callback identifier is invalid"));
    };
    let params = call.json()?;
    let notification = params.get("notification").and_then(Value::as_str).map(Arc::<str>::from);
    let message = params.get("message").filter(|message| message.is_object());
    if notification.is_none() && message.is_none() {
        return Err(Problem::payload("Invalid request. `message` or `notification` required"));
    }
    let new = match message {
        Some(message) => {
            let body: Params = serde_json::from_value(message.clone()).map_err(|_| Problem::undeserializable())?;
            Some(send::read(&body)?)
        }
        None => None,
    };
    let world = Arc::clone(&call.world);
    let mut state = lock(&world.max.state);
    let said = match new {
        Some(new) if state.messages.get(place).is_some() => replace(call, &mut state, place, new)?,
        _ => Said { chat_id: place.0, text: notification, ..Said::default() },
    };
    call.accept(Said { params, ..said });
    Ok(done())
}

/// Puts new content into a message; what the body leaves out stays.
fn replace(call: &Call, state: &mut State, place: Place, new: NewMessage) -> Result<Said, Problem> {
    let attached = match &new.attachments {
        Some(list) => Some(attachments::attach(call, state, list)?),
        None => None,
    };
    let link = send::link_shown(state, new.link.as_ref())?;
    let Some(Stored::Own { bot_id, message }) = state.messages.get(place).cloned() else {
        return Err(Problem::payload(format!("Invalid message_id: {}", mid(place))));
    };
    let mut edited = Message::clone(&message);
    let body = edited.body.get_or_insert_with(|| Body {
        mid: mid(place),
        seq: place.1,
        text: None,
        attachments: Vec::new(),
        markup: Vec::new(),
    });
    let mut files = Vec::new();
    if let Some((text, markup)) = new.text {
        body.text = Some(text);
        body.markup = markup;
    }
    if let Some(Attached { shown, files: attached }) = attached {
        body.attachments = shown;
        files = attached;
    }
    let said = Said {
        chat_id: place.0,
        text: body.text.clone(),
        markup: body.markup.clone(),
        files,
        mid: Some(mid(place)),
        ..Said::default()
    };
    edited.link = link.or(edited.link);
    state.messages.insert(place, Stored::Own { bot_id, message: Arc::new(edited) });
    Ok(said)
}

fn named_message(call: &Call) -> Result<Place, Problem> {
    let given = call.query.text("message_id").ok_or_else(|| Problem::missing("message_id"))?;
    place_of(&given).ok_or_else(|| unknown(call))
}

fn unknown(call: &Call) -> Problem {
    Problem::payload(format!("Invalid message_id: {}", call.query.text("message_id").unwrap_or_default()))
}
