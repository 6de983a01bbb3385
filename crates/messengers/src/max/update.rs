//! Updates of MAX. There is no id of an update, so each kind has a key of its own that a repeat carries too: the id of the
//! message, the id of the callback, the time at which the bot was started.

use serde_json::Value;

use crate::inbound::{self, Inbound, InboundKind, Unreadable};

pub(crate) fn read(update: &Value) -> Result<Option<Inbound>, Unreadable> {
    let kind = update["update_type"].as_str().ok_or_else(|| Unreadable("there is no `update_type`".to_owned()))?;
    match kind {
        "message_created" => message(update),
        "message_callback" => callback(update),
        "bot_started" => started(update).map(Some),
        _ => Ok(None),
    }
}

fn message(update: &Value) -> Result<Option<Inbound>, Unreadable> {
    let message = &update["message"];
    if !message.is_object() {
        return Err(Unreadable("`message` is missing".to_owned()));
    }
    if !is_dialog(message) {
        return Ok(None);
    }
    let sender = &message["sender"];
    let sent_at_ms = message["timestamp"].as_i64().or_else(|| update["timestamp"].as_i64());
    // A message that only forwards another has no body, and so no id.
    let provider_message_id = match inbound::id(&message["body"]["mid"]) {
        Some(mid) => mid,
        None if message["link"].is_object() => {
            let user = inbound::needed_id(&sender["user_id"], "message.sender.user_id")?;
            format!("forward-{user}-{}", sent_at_ms.unwrap_or_default())
        }
        None => return Err(Unreadable("`message.body.mid` is missing".to_owned())),
    };
    let text = inbound::text(&message["body"]["text"]);
    Ok(Some(Inbound {
        chat_id: inbound::needed_id(&message["recipient"]["chat_id"], "message.recipient.chat_id")?,
        provider_message_id,
        kind: if text.is_some() { InboundKind::Text } else { InboundKind::Other },
        text,
        payload: None,
        sender_name: inbound::name(sender),
        is_from_bot: sender["is_bot"] == true,
        sent_at_ms,
    }))
}

fn callback(update: &Value) -> Result<Option<Inbound>, Unreadable> {
    let callback = &update["callback"];
    let message = &update["message"];
    if message.is_object() && !is_dialog(message) {
        return Ok(None);
    }
    let user = &callback["user"];
    // The chat of a dialog was seen as 0, and a message that was deleted meanwhile names none: then it is the person's own.
    let chat = inbound::id(&message["recipient"]["chat_id"]).filter(|id| id != "0");
    let chat_id = match chat {
        Some(chat) => chat,
        None => format!("user:{}", inbound::needed_id(&user["user_id"], "callback.user.user_id")?),
    };
    Ok(Some(Inbound {
        chat_id,
        provider_message_id: inbound::needed_id(&callback["callback_id"], "callback.callback_id")?,
        kind: InboundKind::Button,
        text: None,
        payload: inbound::text(&callback["payload"]),
        sender_name: inbound::name(user),
        is_from_bot: user["is_bot"] == true,
        sent_at_ms: callback["timestamp"].as_i64().or_else(|| update["timestamp"].as_i64()),
    }))
}

fn started(update: &Value) -> Result<Inbound, Unreadable> {
    let user = &update["user"];
    let user_id = inbound::needed_id(&user["user_id"], "user.user_id")?;
    let sent_at_ms = update["timestamp"].as_i64();
    Ok(Inbound {
        chat_id: inbound::needed_id(&update["chat_id"], "chat_id")?,
        provider_message_id: format!("start-{user_id}-{}", sent_at_ms.unwrap_or_default()),
        kind: InboundKind::Start,
        text: None,
        payload: inbound::text(&update["payload"]),
        sender_name: inbound::name(user),
        is_from_bot: user["is_bot"] == true,
        sent_at_ms,
    })
}

/// Told by its type: ids of dialogs have been seen with either sign. Groups and channels have other readers than a bot.
fn is_dialog(message: &Value) -> bool {
    message["recipient"]["chat_type"].as_str().is_none_or(|kind| kind == "dialog")
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
