//! What the control plane does to Telegram: chats, tokens, and updates that "users" cause.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::clock::unix_ms;
use crate::push::{Queued, Report};
use crate::simulators::World;
use crate::sync::lock;

use super::bots::Bot;
use super::chats::{Access, Chat, ChatKind};
use super::message::Stored;
use super::{Telegram, pusher, webhook};

/// A chat as a test wants it; what is `None` stays.
pub(crate) struct ChatWish {
    pub(crate) target: String,
    pub(crate) access: Option<Access>,
    pub(crate) kind: Option<ChatKind>,
    pub(crate) title: Option<String>,
}

/// What happens to a webhook behind the bot's back; what is `None` stays.
pub(crate) struct WebhookWish {
    pub(crate) token: Option<String>,
    /// Somebody else sets it; empty: deletes it.
    pub(crate) url: Option<String>,
    pub(crate) health: Option<Health>,
}

/// Whether a webhook can be reached.
pub(crate) enum Health {
    Mended,
    /// Every delivery fails with this error.
    Broken(String),
}

impl Telegram {
    pub(crate) fn set_chat(&self, wish: ChatWish) -> Result<Value, String> {
        let mut state = lock(&self.state);
        let id = state.chats.resolve(&wish.target).map_err(|_| "target: neither a chat id nor an @name".to_owned())?;
        let migrates = matches!(wish.access, Some(Access::Migrated { .. }));
        if let Some(Access::Migrated { to }) = wish.access
            && let Some(entry) = state.chats.entry(to)
        {
            entry.chat = Arc::new(Chat { kind: ChatKind::Supergroup, ..(*entry.chat).clone() });
        }
        let entry = state.chats.entry(id).ok_or("target: there are too many chats")?;
        let kind = wish.kind.or(migrates.then_some(ChatKind::Group)).unwrap_or(entry.chat.kind);
        let title = wish.title.or_else(|| entry.chat.title.clone());
        entry.chat = Arc::new(Chat { title, kind, ..(*entry.chat).clone() });
        if let Some(access) = wish.access {
            entry.access = access;
        }
        Ok(serde_json::to_value(&*entry.chat).unwrap_or_default())
    }

    pub(crate) fn set_token(&self, token: &str, valid: bool) {
        let mut state = lock(&self.state);
        if valid {
            state.bots.restore(token);
        } else {
            state.bots.revoke(token);
        }
    }

    /// The bot an update is for. Without a token there must be no doubt which one is meant.
    pub(super) fn addressee(&self, token: Option<&str>) -> Result<Arc<Bot>, String> {
        let mut state = lock(&self.state);
        if let Some(token) = token {
            return state.bots.find(token).map_err(|_| "token: malformed or revoked".to_owned());
        }
        let hooked: Vec<&Arc<Bot>> = state.bots.all().filter(|bot| lock(&bot.inbox).webhook.is_some()).collect();
        let candidates = if hooked.is_empty() { state.bots.all().collect() } else { hooked };
        match candidates[..] {
            [bot] => Ok(Arc::clone(bot)),
            [] => Err("token: no bot has called yet, so it must be given".to_owned()),
            _ => Err("token: there are several bots, so it must be given".to_owned()),
        }
    }
}

/// Makes the provider deliver an update to a bot.
pub(crate) fn push_update(world: &Arc<World>, token: Option<&str>, mut update: Value, report: Report) -> Result<Queued, String> {
    let bot = world.telegram.addressee(token)?;
    let fields = update.as_object().ok_or("update: must be an object")?;
    let kind = fields.keys().find(|name| *name != "update_id").cloned();
    let kind = kind.ok_or("update: must have a payload beside update_id")?;
    let lane = lane(&update[&kind]);
    remember(world, &update[&kind]);
    let mut inbox = lock(&bot.inbox);
    let Some(update_id) = inbox.add(&mut update, &kind, lane) else {
        return Ok(Queued { update, allowed: false, by_webhook: inbox.webhook.is_some() });
    };
    let by_webhook = inbox.webhook.is_some();
    match &inbox.webhook {
        // Still under the lock: two updates of one chat keep the order of their ids.
        Some(webhook) => pusher::enqueue(world, &bot, webhook, (lane, update_id), report),
        None => bot.news.notify_waiters(),
    }
    Ok(Queued { update, allowed: true, by_webhook })
}

/// Gives what getWebhookInfo would tell.
pub(crate) fn set_webhook(world: &Arc<World>, wish: WebhookWish) -> Result<Value, String> {
    let bot = world.telegram.addressee(wish.token.as_deref())?;
    if let Some(url) = wish.url {
        webhook::move_to(world, &bot, url)?;
    }
    let inbox = lock(&bot.inbox);
    if let Some(health) = wish.health {
        let webhook = inbox.webhook.as_ref().ok_or("broken: there is no webhook")?;
        *lock(&webhook.broken) = match health {
            Health::Mended => None,
            Health::Broken(error) => Some(error),
        };
    }
    Ok(webhook::info(&inbox))
}

/// The update of a person who wrote `text` in a chat; a post when the chat is a channel.
pub(crate) fn text_update(world: &World, target: &str, text: &str, from: Option<Value>) -> Result<Value, String> {
    let mut state = lock(&world.telegram.state);
    let id = state.chats.resolve(target).map_err(|_| "chat_id: neither a chat id nor an @name".to_owned())?;
    let entry = state.chats.entry(id).ok_or("chat_id: there are too many chats")?;
    let mut message = json!({
        "message_id": entry.next_message_id(),
        "date": unix_ms() / 1000,
        "chat": *entry.chat,
        "text": text,
    });
    if text.starts_with('/') {
        let length = text.find(char::is_whitespace).unwrap_or(text.len());
        message["entities"] = json!([{"type": "bot_command", "offset": 0, "length": length}]);
    }
    if entry.chat.kind == ChatKind::Channel {
        message["sender_chat"] = json!(*entry.chat);
        return Ok(json!({"channel_post": message}));
    }
    let default_id = if id > 0 { id } else { 1 };
    message["from"] = match from {
        Some(Value::Object(user)) => Value::Object(user),
        other => {
            let user_id = other.and_then(|id| id.as_i64()).unwrap_or(default_id);
            json!({"id": user_id, "is_bot": false, "first_name": format!("User {user_id}")})
        }
    };
    Ok(json!({"message": message}))
}

/// Which queue an update goes through: its chat, or else its author.
fn lane(payload: &Value) -> i64 {
    let places = [&payload["chat"]["id"], &payload["message"]["chat"]["id"], &payload["from"]["id"]];
    places.into_iter().find_map(Value::as_i64).unwrap_or(0)
}

/// A message that came in can be replied to.
fn remember(world: &World, payload: &Value) {
    let (Some(chat_id), Some(message_id)) = (payload["chat"]["id"].as_i64(), payload["message_id"].as_i64()) else {
        return;
    };
    let mut state = lock(&world.telegram.state);
    if let Some(entry) = state.chats.entry(chat_id) {
        entry.saw_message_id(message_id);
    }
    state.messages.insert(chat_id, message_id, Stored::Foreign(Arc::new(payload.clone())));
}
