//! What the control plane does to MAX: chats, tokens, and updates that "users" cause.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::clock::unix_ms;
use crate::push::{Queued, Report};
use crate::simulators::World;
use crate::sync::lock;

use super::bots::Bot;
use super::chats::{Access, ChatKind, Recipient, user_of_dialog};
use super::message::{Stored, mid, place_of};
use super::{Max, pusher};

/// A chat as a test wants it; what is `None` stays.
pub(crate) struct ChatWish {
    pub(crate) target: String,
    pub(crate) access: Option<Access>,
    pub(crate) kind: Option<ChatKind>,
    pub(crate) title: Option<String>,
}

impl Max {
    /// The target is a chat id; `user:<id>` names the dialog with a person.
    pub(crate) fn set_chat(&self, wish: ChatWish) -> Result<Value, String> {
        let recipient = match wish.target.strip_prefix("user:") {
            Some(user_id) => user_id.parse().map(Recipient::User),
            None => wish.target.parse().map(Recipient::Chat),
        };
        let recipient = recipient.map_err(|_| "target: neither a chat id nor user:<id>".to_owned())?;
        let mut state = lock(&self.state);
        let entry = state.chats.entry(recipient.chat_id()).ok_or("target: there are too many chats")?;
        entry.access = wish.access.unwrap_or(entry.access);
        entry.kind = wish.kind.unwrap_or(entry.kind);
        entry.title = wish.title.or_else(|| entry.title.clone());
        Ok(json!({"chat_id": entry.chat_id, "type": entry.kind, "title": entry.title}))
    }

    pub(crate) fn set_token(&self, token: &str, valid: bool) {
        let mut state = lock(&self.state);
        if valid {
            state.bots.restore(token);
        } else {
            state.bots.revoke(token);
        }
    }

    fn addressee(&self, token: Option<&str>) -> Result<Arc<Bot>, String> {
        let mut state = lock(&self.state);
        if let Some(token) = token {
            return state.bots.find(token).map_err(|_| "token: malformed or revoked".to_owned());
        }
        let subscribed: Vec<&Arc<Bot>> = state.bots.all().filter(|bot| !lock(&bot.inbox).subscriptions.is_empty()).collect();
        let candidates = if subscribed.is_empty() { state.bots.all().collect() } else { subscribed };
        match candidates[..] {
            [bot] => Ok(Arc::clone(bot)),
            [] => Err("token: no bot has called yet, so it must be given".to_owned()),
            _ => Err("token: there are several bots, so it must be given".to_owned()),
        }
    }
}

/// Makes the provider deliver an update. With several subscriptions the report tells about the first of them.
pub(crate) fn push_update(world: &Arc<World>, token: Option<&str>, mut update: Value, report: Report) -> Result<Queued, String> {
    let bot = world.max.addressee(token)?;
    let kind = update["update_type"].as_str().map(ToOwned::to_owned);
    let kind = kind.ok_or("update: must have an update_type")?;
    if update["timestamp"].is_null() {
        update["timestamp"] = unix_ms().into();
    }
    let lane = lane(&update);
    remember(world, &bot, &update);
    let body = Bytes::from(serde_json::to_vec(&update).unwrap_or_default());
    let mut inbox = lock(&bot.inbox);
    if inbox.subscriptions.is_empty() {
        inbox.keep(&kind, body);
        drop(inbox);
        bot.news.notify_waiters();
        return Ok(Queued { update, allowed: true, by_webhook: false });
    }
    let wanted: Vec<_> = inbox.subscriptions.iter().filter(|subscription| subscription.wants(&kind)).cloned().collect();
    drop(inbox);
    let mut report = Some(report);
    for subscription in &wanted {
        pusher::enqueue(world, &bot, subscription, (lane, body.clone()), report.take().unwrap_or_default());
    }
    Ok(Queued { update, allowed: !wanted.is_empty(), by_webhook: true })
}

/// The update of a person who wrote `text` in a chat.
pub(crate) fn text_update(
    world: &World,
    token: Option<&str>,
    target: &str,
    text: &str,
    from: Option<Value>,
) -> Result<Value, String> {
    let bot = world.max.addressee(token)?;
    let chat_id: i64 = target.parse().map_err(|_| "chat_id: must be a number".to_owned())?;
    let mut state = lock(&world.max.state);
    let now = unix_ms();
    let seq = state.messages.next_seq(now);
    let entry = state.chats.entry(chat_id).ok_or("chat_id: there are too many chats")?;
    let is_dialog = entry.kind == ChatKind::Dialog;
    let mut recipient = json!({"chat_id": chat_id, "chat_type": entry.kind});
    if is_dialog {
        // What a user sends to a bot is addressed to the bot.
        recipient["user_id"] = json!(bot.user.user_id);
    }
    let default_id = if is_dialog { user_of_dialog(chat_id) } else { 1 };
    let sender = match from {
        Some(Value::Object(user)) => Value::Object(user),
        other => {
            let user_id = other.and_then(|id| id.as_i64()).unwrap_or(default_id);
            json!({
                "user_id": user_id,
                "first_name": format!("User {user_id}"),
                "is_bot": false,
                "last_activity_time": now,
                "name": format!("User {user_id}"),
            })
        }
    };
    let mut message = json!({
        "recipient": recipient,
        "timestamp": now,
        "body": {"mid": mid((chat_id, seq)), "seq": seq, "text": text},
    });
    if entry.kind != ChatKind::Channel {
        message["sender"] = sender;
    }
    let mut update = json!({"update_type": "message_created", "timestamp": now, "message": message});
    if is_dialog {
        update["user_locale"] = json!("ru");
    }
    Ok(update)
}

fn lane(update: &Value) -> i64 {
    let places = [&update["chat_id"], &update["message"]["recipient"]["chat_id"], &update["user"]["user_id"]];
    places.into_iter().find_map(Value::as_i64).unwrap_or(0)
}

/// Messages that came in can be replied to; buttons pressed can be answered.
fn remember(world: &World, bot: &Bot, update: &Value) {
    let mid = update["message"]["body"]["mid"].as_str();
    let place = mid.and_then(place_of);
    if let Some(callback_id) = update["callback"]["callback_id"].as_str() {
        lock(&bot.inbox).pressed(callback_id, place.unwrap_or((lane(update), 0)));
    }
    let Some(place) = place else { return };
    let mut state = lock(&world.max.state);
    if state.messages.get(place).is_none() {
        state.messages.insert(place, Stored::Foreign(Arc::new(update["message"].clone())));
    }
}
