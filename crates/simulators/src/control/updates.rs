//! `POST /control/updates`: makes a provider deliver an update, and waits for its fate when asked to.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::faults::Provider;
use crate::push::{Delivery, Queued, Report};
use crate::simulators::World;
use crate::{max, telegram};

use super::fields::Fields;
use super::settings::ONLY_MESSENGERS;
use super::{Answer, respond};

/// For what a test waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    No,
    /// The first attempt.
    First,
    /// Delivered, or given up.
    Settled,
}

pub(super) async fn push(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(deliver(&world, &body).await)
}

async fn deliver(world: &Arc<World>, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    let provider: Provider = fields.need("provider")?;
    let token: Option<String> = fields.take("token")?;
    let wait = match fields.take::<Value>("wait")? {
        None | Some(Value::Bool(false)) => Wait::No,
        Some(Value::Bool(true)) => Wait::First,
        Some(Value::String(until)) if until == "settled" => Wait::Settled,
        Some(_) => return Err("wait: must be true, false or \"settled\"".to_owned()),
    };
    let update = read_update(world, provider, token.as_deref(), &mut fields)?;
    fields.finish()?;
    let (sender, receiver) = oneshot::channel();
    let report = match wait {
        Wait::No => Report::default(),
        Wait::First => Report { first: Some(sender), ..Report::default() },
        Wait::Settled => Report { settled: Some(sender), ..Report::default() },
    };
    let queued = match provider {
        Provider::Telegram => telegram::push_update(world, token.as_deref(), update, report)?,
        Provider::Max => max::push_update(world, token.as_deref(), update, report)?,
        _ => return Err(ONLY_MESSENGERS.to_owned()),
    };
    let delivery = fate(&queued, wait, receiver).await;
    let by = if queued.by_webhook { "webhook" } else { "polling" };
    Ok(json!({"update": queued.update, "by": by, "allowed": queued.allowed, "delivery": delivery}))
}

async fn fate(queued: &Queued, wait: Wait, receiver: oneshot::Receiver<Delivery>) -> Option<Delivery> {
    let failed = |error: &str| Delivery { delivered: false, status: None, error: Some(error.to_owned()), attempts: 0 };
    if wait == Wait::No {
        return None;
    }
    if !queued.allowed {
        return Some(failed("the bot did not ask for updates of this kind"));
    }
    if !queued.by_webhook {
        return Some(failed("no webhook is set: the update waits for a poll"));
    }
    Some(receiver.await.unwrap_or_else(|_| failed("the webhook was removed")))
}

/// Either the whole update, or a text somebody wrote in a chat.
fn read_update(world: &World, provider: Provider, token: Option<&str>, fields: &mut Fields) -> Result<Value, String> {
    let update: Option<Value> = fields.take("update")?;
    let chat_id = fields.take_target("chat_id")?;
    let text: Option<String> = fields.take("text")?;
    let from: Option<Value> = fields.take("from")?;
    match (update, chat_id, text) {
        (Some(update), None, None) if from.is_none() && update.is_object() => Ok(update),
        (Some(update), None, None) if !update.is_object() => Err("update: must be an object".to_owned()),
        (Some(_), ..) => Err("update: excludes chat_id, text and from".to_owned()),
        (None, Some(chat_id), Some(text)) => match provider {
            Provider::Telegram => telegram::text_update(world, &chat_id, &text, from),
            Provider::Max => max::text_update(world, token, &chat_id, &text, from),
            _ => Err(ONLY_MESSENGERS.to_owned()),
        },
        (None, None, None) => Err("update: must be given, or chat_id and text".to_owned()),
        (None, None, _) => Err("chat_id: must be given with text".to_owned()),
        (None, _, None) => Err("text: must be given with chat_id".to_owned()),
    }
}
