//! What went wrong, in the one form that every API answers with.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a client can do about it, by kind. The first five are the knowledge specification's; the rest extend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Db,
    Upstream,
    Auth,
    RateLimit,
    Unknown,
    Validation,
    NotFound,
    Conflict,
    TooLarge,
    Timeout,
    Unavailable,
}

/// An error for the caller: a status, a stable code, and words that say what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    pub status: u16,
    pub kind: Kind,
    /// Stable and dotted, for programs.
    pub code: &'static str,
    /// For people.
    pub message: String,
    pub retryable: bool,
    pub retry_after: Option<Duration>,
    pub details: Map<String, Value>,
}

impl Problem {
    pub fn new(status: u16, kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        let retryable = matches!(kind, Kind::Db | Kind::RateLimit | Kind::Timeout | Kind::Unavailable);
        Self { status, kind, code, message: message.into(), retryable, retry_after: None, details: Map::new() }
    }

    /// The caller sent something that can never be accepted; `field` says what to correct.
    pub fn validation(field: &str, message: impl Into<String>) -> Self {
        Self::new(422, Kind::Validation, "request.invalid", message).with("field", field)
    }

    pub fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(400, Kind::Validation, code, message)
    }

    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(401, Kind::Auth, "auth.token", message)
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, Kind::Auth, "auth.scope", message)
    }

    /// The same answer for what does not exist and for what belongs to another workspace.
    pub fn not_found(what: &str) -> Self {
        Self::new(404, Kind::NotFound, "not_found", format!("there is no such {what}"))
    }

    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(409, Kind::Conflict, code, message)
    }

    /// Ours, not the caller's: the source goes to the log, the caller gets the trace id to quote.
    pub fn internal() -> Self {
        let mut problem = Self::new(
            500,
            Kind::Unknown,
            "internal",
            "something failed on our side; the details are in the server's log under this trace id",
        );
        problem.retryable = true;
        problem
    }

    pub fn database_unavailable() -> Self {
        Self::new(
            503,
            Kind::Db,
            "database.unavailable",
            "the database does not answer right now; nothing was stored, so send the same request again",
        )
        .retry_after(Duration::from_secs(1))
    }

    #[must_use]
    pub fn retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self.retryable = true;
        self
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}
