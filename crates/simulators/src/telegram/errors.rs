//! Refusals as the Bot API words them: status, description, parameters, `Retry-After`.

use std::borrow::Cow;

use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde::Serialize;

use crate::http;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) description: Cow<'static, str>,
    pub(super) parameters: Option<Parameters>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Parameters {
    RetryAfter(u32),
    MigrateToChatId(i64),
}

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    ok: bool,
    error_code: u16,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Parameters>,
}

impl Refusal {
    fn new(status: u16, description: impl Into<Cow<'static, str>>) -> Self {
        Self { status, description: description.into(), parameters: None }
    }

    pub(super) fn bad_request(message: &str) -> Self {
        Self::new(400, describe("Bad Request", message))
    }

    pub(super) fn forbidden(message: &str) -> Self {
        Self::new(403, describe("Forbidden", message))
    }

    pub(super) fn conflict(message: &str) -> Self {
        Self::new(409, describe("Conflict", message))
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized")
    }

    pub(super) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }

    pub(super) fn method_not_found() -> Self {
        Self::new(404, "Not Found: method not found")
    }

    pub(super) fn internal() -> Self {
        Self::new(500, "Internal Server Error")
    }

    pub(super) fn too_large() -> Self {
        Self::new(413, "Request Entity Too Large")
    }

    pub(super) fn flood(seconds: u32) -> Self {
        let mut refusal = Self::new(429, format!("Too Many Requests: retry after {seconds}"));
        refusal.parameters = Some(Parameters::RetryAfter(seconds));
        refusal
    }

    pub(super) fn migrated(to: i64) -> Self {
        let mut refusal = Self::bad_request("group chat was upgraded to a supergroup chat");
        refusal.parameters = Some(Parameters::MigrateToChatId(to));
        refusal
    }

    pub(super) fn entities(message: &str) -> Self {
        Self::bad_request(&format!("can't parse entities: {message}"))
    }

    /// The body a fault gets when the test names only a status.
    pub(super) fn of_status(status: u16, retry_after: Option<u32>, kicked: &Self) -> Self {
        match status {
            400 => Self::new(400, "Bad Request"),
            401 => Self::unauthorized(),
            403 => kicked.clone(),
            404 => Self::not_found(),
            409 => Self::conflict("terminated by other getUpdates request; make sure that only one bot instance is running"),
            413 => Self::too_large(),
            429 => Self::flood(retry_after.unwrap_or(1)),
            500 => Self::internal(),
            502 => Self::new(502, "Bad Gateway"),
            503 => Self::new(503, "Service Unavailable"),
            504 => Self::new(504, "Gateway Timeout"),
            other => Self::new(other, "Unknown Error"),
        }
    }

    pub(super) fn response(&self) -> Response {
        let envelope = ErrorEnvelope {
            ok: false,
            error_code: self.status,
            description: &self.description,
            parameters: self.parameters.as_ref(),
        };
        let mut response = http::json(self.status, &envelope);
        if let Some(Parameters::RetryAfter(seconds)) = self.parameters {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The server's own rule: the message starts with a small letter after the prefix, unless it is an RPC code.
fn describe(prefix: &str, message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().unwrap_or_default();
    let is_code = letters.clone().next().is_some_and(|second| second.is_ascii_uppercase() || second == '_');
    if is_code { format!("{prefix}: {message}") } else { format!("{prefix}: {}{}", first.to_ascii_lowercase(), letters.as_str()) }
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn a_description_starts_small_unless_it_is_an_rpc_code() {
        for (message, description) in [
            ("Chat not found", "Bad Request: chat not found"),
            ("PHOTO_INVALID_DIMENSIONS", "Bad Request: PHOTO_INVALID_DIMENSIONS"),
            ("chat_id is empty", "Bad Request: chat_id is empty"),
        ] {
            assert_eq!(Refusal::bad_request(message).description, description);
        }
    }
}
