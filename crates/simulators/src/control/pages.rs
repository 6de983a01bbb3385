//! `POST /control/pages`: what a path of the web site answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::faults::Drop;
use crate::simulators::World;
use crate::web::{Content, Page};

use super::faults::{DELAY_MS_MAX, read_drop};
use super::fields::Fields;
use super::{Answer, respond};

/// Of a page the simulator makes up. Nothing of it is kept in memory.
const GENERATED_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

pub(super) async fn set(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(set_page(&world, &body))
}

fn set_page(world: &World, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    let path: String = fields.need("path")?;
    let times: Option<u64> = fields.take("times")?;
    if times == Some(0) {
        return Err("times: must be at least 1".to_owned());
    }
    let mut headers = read_headers(fields.take("headers")?)?;
    let redirect: Option<String> = fields.take("redirect")?;
    let status: Option<u16> = fields.take("status")?;
    let status = status.unwrap_or(if redirect.is_some() { 302 } else { 200 });
    if !(200..=599).contains(&status) {
        return Err("status: must be between 200 and 599".to_owned());
    }
    if let Some(location) = redirect {
        let location = HeaderValue::from_str(&location).map_err(|_| "redirect: not a header's value".to_owned())?;
        headers.push((header::LOCATION, location));
    }
    let content = read_content(&mut fields)?;
    let delay_ms: Option<u64> = fields.take("delay_ms")?;
    if delay_ms.is_some_and(|delay| delay > DELAY_MS_MAX) {
        return Err(format!("delay_ms: must be at most {DELAY_MS_MAX}"));
    }
    let drop = match fields.take::<Value>("drop")? {
        // A page has nothing to accept: a bare `true` is no answer at all.
        Some(Value::Bool(true)) => Some(Drop::Before),
        other => read_drop(other)?,
    };
    fields.finish()?;
    if let Content::Bytes(bytes) = &content
        && !world.vault.admit(bytes.len())
    {
        return Err("body: there is no room for more files".to_owned());
    }
    if !world.pages.set(&path, Page { status, headers, content, delay_ms, drop }, times) {
        return Err("path: there are too many pages".to_owned());
    }
    Ok(json!({"path": format!("/web/{}", path.trim_start_matches('/')), "status": status}))
}

fn read_content(fields: &mut Fields) -> Result<Content, String> {
    let text: Option<String> = fields.take("body")?;
    let bytes = fields.take_base64("body_base64")?;
    let size: Option<u64> = fields.take("bytes")?;
    match (text, bytes, size) {
        (None, None, None) => Ok(Content::Bytes(Bytes::new())),
        (Some(text), None, None) => Ok(Content::Bytes(text.into())),
        (None, Some(bytes), None) => Ok(Content::Bytes(bytes)),
        (None, None, Some(size)) if size <= GENERATED_BYTES_MAX => Ok(Content::Generated(size)),
        (None, None, Some(_)) => Err(format!("bytes: must be at most {GENERATED_BYTES_MAX}")),
        _ => Err("body: only one of body, body_base64 and bytes".to_owned()),
    }
}

/// A value may be a list: the header is then sent that many times.
fn read_headers(given: Option<BTreeMap<String, Value>>) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let mut headers = Vec::new();
    for (name, value) in given.unwrap_or_default() {
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("headers: bad name {name}"))?;
            let value = HeaderValue::from_str(&text).map_err(|_| format!("headers: bad value of {name}"))?;
            headers.push((name, value));
        }
    }
    Ok(headers)
}
