//! The switches: chats, tokens, limits, clock, reset.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::clock::{SCALE_MAX, SCALE_MIN};
use crate::faults::Provider;
use crate::simulators::World;
use crate::{max, telegram};

use super::fields::Fields;
use super::{Answer, respond};

pub(super) const ONLY_MESSENGERS: &str = "provider: must be telegram or max";

pub(super) async fn chats(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(set_chat(&world, &body))
}

fn set_chat(world: &World, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    let provider: Provider = fields.need("provider")?;
    let target = fields.take_target("target")?.ok_or("target: must be given")?;
    let state: Option<String> = fields.take("state")?;
    let title = fields.take("title")?;
    let to: Option<i64> = fields.take("to")?;
    let seconds: Option<u32> = fields.take("seconds")?;
    let times: Option<u32> = fields.take("times")?;
    if to.is_some() && state.as_deref() != Some("migrated") {
        return Err("to: only for the state migrated".to_owned());
    }
    if (seconds.is_some() || times.is_some()) && state.as_deref() != Some("flood") {
        return Err("seconds: it and times are only for the state flood".to_owned());
    }
    let times = times.unwrap_or(1);
    if times == 0 {
        return Err("times: must be at least 1".to_owned());
    }
    match provider {
        Provider::Telegram => {
            use telegram::Access;
            let access = match state.as_deref() {
                None => None,
                Some("ok") => Some(Access::Ok),
                Some("unknown") => Some(Access::Unknown),
                Some("kicked") => Some(Access::Kicked),
                Some("left") => Some(Access::Left),
                Some("blocked") => Some(Access::Blocked),
                Some("no_rights") => Some(Access::NoRights),
                Some("migrated") => Some(Access::Migrated { to: to.ok_or("to: must be given")? }),
                Some("flood") => Some(Access::Flood { seconds: seconds.unwrap_or(1), times }),
                Some(_) => {
                    return Err(unknown_state("kicked, left, blocked, no_rights, migrated or flood"));
                }
            };
            let kind = fields.take("type")?;
            fields.finish()?;
            world.telegram.set_chat(telegram::ChatWish { target, access, kind, title })
        }
        Provider::Max => {
            use max::Access;
            let access = match state.as_deref() {
                None => None,
                Some("ok") => Some(Access::Ok),
                Some("unknown") => Some(Access::Unknown),
                Some("kicked" | "left") => Some(Access::Removed),
                Some("blocked") => Some(Access::Blocked),
                Some("no_rights") => Some(Access::NoRights),
                Some("flood") => Some(Access::Flood { times }),
                Some(_) => return Err(unknown_state("kicked, left, blocked, no_rights or flood")),
            };
            let kind = fields.take("type")?;
            fields.finish()?;
            world.max.set_chat(max::ChatWish { target, access, kind, title })
        }
        _ => Err(ONLY_MESSENGERS.to_owned()),
    }
}

fn unknown_state(others: &str) -> String {
    format!("state: must be ok, unknown, {others}")
}

pub(super) async fn tokens(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(set_token(&world, &body))
}

fn set_token(world: &World, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    let provider: Provider = fields.need("provider")?;
    let token: String = fields.need("token")?;
    let valid: bool = fields.need("valid")?;
    fields.finish()?;
    match provider {
        Provider::Telegram => world.telegram.set_token(&token, valid),
        Provider::Max => world.max.set_token(&token, valid),
        Provider::Gemini => world.gemini.keys.set(&token, valid),
        Provider::Openai => world.openai.keys.set(&token, valid),
        Provider::Web => return Err("provider: a web site has no tokens".to_owned()),
    }
    Ok(json!({"valid": valid}))
}

pub(super) async fn limits(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(set_limits(&world, &body))
}

/// Sets the limits of one provider anew: what is not given is off.
fn set_limits(world: &World, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    let provider: Provider = fields.need("provider")?;
    let per_chat: u32 = fields.take("per_chat_per_second")?.unwrap_or(0);
    let per_token: u32 = fields.take("per_token_per_second")?.unwrap_or(0);
    let not_ready: Option<u32> = fields.take("not_ready_sends")?;
    fields.finish()?;
    match provider {
        Provider::Telegram if not_ready.is_some() => {
            return Err("not_ready_sends: only MAX has it".to_owned());
        }
        Provider::Telegram => world.telegram.limits.set(per_chat, per_token),
        Provider::Max => {
            world.max.limits.set(per_chat, per_token);
            world.max.set_not_ready_sends(not_ready.unwrap_or(0));
        }
        _ => return Err(ONLY_MESSENGERS.to_owned()),
    }
    Ok(json!({
        "per_chat_per_second": per_chat,
        "per_token_per_second": per_token,
        "not_ready_sends": not_ready.unwrap_or(0),
    }))
}

pub(super) async fn clock(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(set_clock(&world, &body))
}

fn set_clock(world: &World, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    let scale: f64 = fields.need("scale")?;
    fields.finish()?;
    if !(SCALE_MIN..=SCALE_MAX).contains(&scale) {
        return Err(format!("scale: must be between {SCALE_MIN} and {SCALE_MAX}"));
    }
    world.clock.set_scale(scale);
    Ok(json!({"scale": world.clock.scale()}))
}

pub(super) async fn reset(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(Fields::read_optional(&body).and_then(Fields::finish).map(|()| {
        world.reset();
        Value::Object(serde_json::Map::from_iter([("reset".to_owned(), Value::Bool(true))]))
    }))
}
