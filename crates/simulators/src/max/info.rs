//! What can be asked: the bot itself, chats, messages; and the typing mark.

use axum::response::Response;
use serde_json::{Value, json};

use crate::clock::unix_ms;
use crate::http;
use crate::sync::lock;

use super::call::Call;
use super::chats::{Access, ChatEntry, ChatKind, Recipient};
use super::done;
use super::message::{Stored, place_of};
use super::problem::Problem;

const COMMANDS_MAX: usize = 32;
const LIST_MAX: i64 = 100;
const LIST_DEFAULT: i64 = 50;
const ACTIONS: [&str; 6] = ["typing_on", "sending_photo", "sending_video", "sending_audio", "sending_file", "mark_seen"];

pub(super) fn me(call: &Call) -> Result<Response, Problem> {
    let bot = call.bot()?;
    let mut me = serde_json::to_value(&*bot.user).unwrap_or_default();
    let commands = lock(&bot.commands).clone();
    if !commands.is_empty() {
        me["commands"] = json!(commands);
    }
    Ok(http::json(200, &me))
}

pub(super) fn set_commands(call: &Call) -> Result<Response, Problem> {
    let body = call.json()?;
    let commands = body.get("commands").and_then(Value::as_array).ok_or_else(Problem::undeserializable)?;
    if commands.len() > COMMANDS_MAX {
        return Err(Problem::too_long("commands", commands.len(), COMMANDS_MAX));
    }
    if commands.iter().any(|command| command["name"].as_str().is_none_or(str::is_empty)) {
        return Err(Problem::undeserializable());
    }
    lock(&call.bot()?.commands).clone_from(commands);
    me(call)
}

pub(super) fn chat(call: &Call) -> Result<Response, Problem> {
    let chat = readable_chat(call)?;
    let mut shown = json!({
        "chat_id": chat.chat_id,
        "type": chat.kind,
        "status": "active",
        "last_event_time": unix_ms(),
        "participants_count": if chat.kind == ChatKind::Dialog { 2 } else { 100 },
        "is_public": false,
    });
    if let Some(title) = chat.title {
        shown["title"] = json!(title);
    }
    Ok(http::json(200, &shown))
}

/// The pre-flight of rights.
pub(super) fn membership(call: &Call) -> Result<Response, Problem> {
    let chat = readable_chat(call)?;
    let mut shown = serde_json::to_value(&*call.bot()?.user).unwrap_or_default();
    let is_admin = chat.access != Access::NoRights;
    shown["is_owner"] = json!(false);
    shown["is_admin"] = json!(is_admin);
    shown["join_time"] = json!(0);
    shown["last_access_time"] = json!(unix_ms());
    if is_admin {
        shown["permissions"] = json!(["read_all_messages", "write", "pin_message"]);
    }
    Ok(http::json(200, &shown))
}

pub(super) fn chat_action(call: &Call) -> Result<Response, Problem> {
    let body = call.json()?;
    let action = body.text("action").unwrap_or_default();
    if !ACTIONS.contains(&action.as_ref()) {
        return Err(Problem::undeserializable());
    }
    let chat_id = chat_id(call)?;
    lock(&call.world.max.state).chats.open(Recipient::Chat(chat_id))?;
    Ok(done())
}

pub(super) fn get_message(call: &Call) -> Result<Response, Problem> {
    let mid = &call.route.argument;
    let state = lock(&call.world.max.state);
    let stored = place_of(mid).and_then(|place| state.messages.get(place));
    let stored = stored.ok_or_else(|| Problem::not_found(format!("Message {mid} not found")))?;
    Ok(http::json(200, &stored.shown()))
}

/// Named messages, or those of a chat, newest first.
pub(super) fn list_messages(call: &Call) -> Result<Response, Problem> {
    let count = call.query.int("count").unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX);
    let count = usize::try_from(count).unwrap_or(1);
    let mut state = lock(&call.world.max.state);
    let messages: Vec<Value> = if let Some(mids) = call.query.text("message_ids") {
        mids.split(',').filter_map(|mid| state.messages.get(place_of(mid.trim())?)).map(Stored::shown).collect()
    } else {
        let chat_id = call.query.int("chat_id").ok_or_else(|| Problem::missing("chat_id"))?;
        state.chats.open(Recipient::Chat(chat_id))?;
        let (from, to) = (call.query.int("from").unwrap_or(i64::MAX), call.query.int("to").unwrap_or(0));
        let within = |message: &Value| {
            // The newer bound is `from`, the older `to`: the list runs backwards.
            message["timestamp"].as_i64().is_some_and(|at| at <= from && at >= to)
        };
        state.messages.of_chat(chat_id).map(Stored::shown).filter(within).take(count).collect()
    };
    Ok(http::json(200, &json!({"messages": messages})))
}

fn chat_id(call: &Call) -> Result<i64, Problem> {
    call.route.argument.parse().map_err(|_| Problem::chat_not_found(&call.route.argument))
}

/// A chat the bot knows, whether it may write there or not.
fn readable_chat(call: &Call) -> Result<ChatEntry, Problem> {
    let chat_id = chat_id(call)?;
    let mut state = lock(&call.world.max.state);
    let entry = state.chats.entry(chat_id).ok_or_else(|| Problem::chat_not_found(&call.route.argument))?;
    match entry.access {
        Access::Ok | Access::NoRights | Access::Blocked => Ok(entry.clone()),
        _ => state.chats.open(Recipient::Chat(chat_id)).cloned(),
    }
}
