//! Updates of Telegram. A message is known by its id within the chat, a pressed button by the id of its query: the number of
//! an update may begin anew after a week of silence.

use serde_json::Value;

use crate::inbound::{self, Inbound, InboundKind, Unreadable};

/// What the chat says of itself, and nobody wrote.
const SERVICE: [&str; 11] = [
    "pinned_message",
    "message_auto_delete_timer_changed",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "new_chat_members",
    "left_chat_member",
    "successful_payment",
    "refunded_payment",
    "write_access_allowed",
    "chat_background_set",
    "connected_website",
];

pub(crate) fn read(update: &Value) -> Result<Option<Inbound>, Unreadable> {
    if !update["update_id"].is_i64() {
        return Err(Unreadable("there is no `update_id`".to_owned()));
    }
    match (update.get("message"), update.get("callback_query")) {
        (Some(message), _) => read_message(message),
        (None, Some(query)) => read_query(query),
        (None, None) => Ok(None),
    }
}

fn read_message(message: &Value) -> Result<Option<Inbound>, Unreadable> {
    let chat_id = inbound::needed_id(&message["chat"]["id"], "message.chat.id")?;
    let provider_message_id = inbound::needed_id(&message["message_id"], "message.message_id")?;
    if !is_private(message) || SERVICE.iter().any(|field| message.get(field).is_some()) {
        return Ok(None);
    }
    let text = inbound::text(&message["text"]).or_else(|| inbound::text(&message["caption"]));
    let kind = match &text {
        Some(text) if text.split_whitespace().next() == Some("/start") => InboundKind::Start,
        Some(_) => InboundKind::Text,
        None => InboundKind::Other,
    };
    Ok(Some(Inbound {
        chat_id,
        provider_message_id,
        kind,
        text,
        payload: None,
        sender_name: inbound::name(&message["from"]),
        is_from_bot: message["from"]["is_bot"] == true,
        sent_at_ms: message["date"].as_i64().map(|seconds| seconds.saturating_mul(1000)),
    }))
}

fn read_query(query: &Value) -> Result<Option<Inbound>, Unreadable> {
    let message = &query["message"];
    if message.is_object() && !is_private(message) {
        return Ok(None);
    }
    // A private chat has the id of its person.
    let chat_id = match inbound::id(&message["chat"]["id"]) {
        Some(chat_id) => chat_id,
        None => inbound::needed_id(&query["from"]["id"], "callback_query.from.id")?,
    };
    Ok(Some(Inbound {
        chat_id,
        provider_message_id: inbound::needed_id(&query["id"], "callback_query.id")?,
        kind: InboundKind::Button,
        text: None,
        payload: inbound::text(&query["data"]),
        sender_name: inbound::name(&query["from"]),
        is_from_bot: query["from"]["is_bot"] == true,
        sent_at_ms: None,
    }))
}

fn is_private(message: &Value) -> bool {
    message["chat"]["type"].as_str().is_none_or(|kind| kind == "private")
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
