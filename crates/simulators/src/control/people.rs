//! What people do to a Telegram bot: they send files, become members, and break or move its webhook.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde_json::Value;

use crate::faults::Provider;
use crate::http::BODY_BYTES_MAX;
use crate::simulators::World;
use crate::telegram::{self, FileWish, Health, MemberWish, WebhookWish};

use super::fields::Fields;
use super::{Answer, respond};

/// The error of a webhook that a test broke without saying how.
const BROKEN: &str = "Connection timed out";

pub(super) async fn files(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(put_file(&world, &body))
}

fn put_file(world: &Arc<World>, body: &[u8]) -> Answer {
    let mut fields = read(body)?;
    let bytes = fields.take_base64("bytes_base64")?;
    let size: Option<usize> = fields.take("bytes")?;
    let bytes = match (bytes, size) {
        (Some(bytes), None) => bytes,
        (None, Some(size)) if size <= BODY_BYTES_MAX => vec![b'x'; size].into(),
        (None, Some(_)) => return Err(format!("bytes: must be at most {BODY_BYTES_MAX}")),
        _ => return Err("bytes_base64: must be given, or bytes".to_owned()),
    };
    let wish = FileWish {
        token: fields.take("token")?,
        bytes,
        name: fields.take("name")?.unwrap_or_default(),
        mime_type: fields.take("mime")?,
        kind: fields.take("kind")?,
        duration: fields.take("duration")?,
    };
    fields.finish()?;
    telegram::put_file(world, wish)
}

pub(super) async fn members(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(set_member(&world, &body))
}

fn set_member(world: &World, body: &[u8]) -> Answer {
    let mut fields = read(body)?;
    let wish = MemberWish {
        target: fields.take_target("target")?.ok_or("target: must be given")?,
        user_id: fields.need("user_id")?,
        status: fields.need("status")?,
        user: fields.take("user")?,
    };
    fields.finish()?;
    world.telegram.set_member(wish)
}

pub(super) async fn webhooks(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(set_webhook(&world, &body))
}

fn set_webhook(world: &Arc<World>, body: &[u8]) -> Answer {
    let mut fields = read(body)?;
    let health = match fields.take::<Value>("broken")? {
        None => None,
        Some(Value::Bool(false)) => Some(Health::Mended),
        Some(Value::Bool(true)) => Some(Health::Broken(BROKEN.to_owned())),
        Some(Value::String(error)) => Some(Health::Broken(error)),
        Some(_) => return Err("broken: must be true, false or the text of the error".to_owned()),
    };
    let wish = WebhookWish { token: fields.take("token")?, url: fields.take("url")?, health };
    fields.finish()?;
    telegram::set_webhook(world, wish)
}

/// The fields of a command that only Telegram has.
fn read(body: &[u8]) -> Result<Fields, String> {
    let mut fields = Fields::read(body)?;
    match fields.need::<Provider>("provider")? {
        Provider::Telegram => Ok(fields),
        _ => Err("provider: must be telegram".to_owned()),
    }
}
