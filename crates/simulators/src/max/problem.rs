//! Refusals as MAX words them: HTTP status, a dotted code, a text.

use std::borrow::Cow;

use axum::response::Response;
use serde::Serialize;

use crate::http;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    #[serde(skip)]
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: Cow<'static, str>,
}

impl Problem {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// Any failed validation.
    pub(super) fn payload(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "proto.payload", message)
    }

    pub(super) fn undeserializable() -> Self {
        Self::payload("Can't deserialize body")
    }

    pub(super) fn missing(parameter: &str) -> Self {
        Self::payload(format!("Missing required parameter: {parameter}"))
    }

    pub(super) fn too_long(field: &str, size: usize, max: usize) -> Self {
        Self::payload(format!("Field '{field}' size ({size}) must be at most {max}"))
    }

    pub(super) fn too_short(field: &str, size: usize, min: usize) -> Self {
        Self::payload(format!("Field '{field}' size ({size}) must be at least {min}"))
    }

    pub(super) fn token(message: &'static str) -> Self {
        Self::new(401, "verify.token", message)
    }

    pub(super) fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(404, "not.found", message)
    }

    pub(super) fn chat_not_found(chat_id: &str) -> Self {
        Self::new(404, "chat.not.found", format!("Chat {chat_id} not found"))
    }

    pub(super) fn suspended(chat_id: &str) -> Self {
        Self::new(403, "chat.denied", format!("Key: error.dialog.suspended, args: [{chat_id},]."))
    }

    /// The code is known from SDK fixtures only, the text is ours: neither is documented.
    pub(super) fn flood() -> Self {
        Self::new(429, "too.many.requests", "Too many requests")
    }

    pub(super) fn not_ready(kind: &str) -> Self {
        Self::new(400, "attachment.not.ready", format!("Key: errors.process.attachment.{kind}.not.processed"))
    }

    pub(super) fn too_large() -> Self {
        Self::new(413, "proto.payload", "Request entity too large")
    }

    /// Documented status, undocumented body.
    pub(super) fn method_not_allowed() -> Self {
        Self::new(405, "method.not.allowed", "Method not allowed")
    }

    /// The body a fault gets when the test names only a status.
    pub(super) fn of_status(status: u16, target: &str) -> Self {
        match status {
            400 => Self::undeserializable(),
            401 => Self::token("Invalid access_token"),
            403 => Self::suspended(target),
            404 => Self::chat_not_found(target),
            405 => Self::method_not_allowed(),
            413 => Self::too_large(),
            429 => Self::flood(),
            500 => Self::new(500, "internal.error", "Internal error, incident id: 00000000-0000-0000-0000-000000000000"),
            503 => Self::new(503, "service.unavailable", "Service unavailable"),
            other => Self::new(other, "internal.error", "Unknown error"),
        }
    }

    pub(super) fn response(&self) -> Response {
        http::json(self.status, self)
    }
}
