//! The normalized error of every adapter: a failure reads the same with every provider.

use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Category {
    /// The same call may succeed later.
    Transient,
    /// It never will.
    Permanent,
}

/// How much of the world the failure speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorScope {
    Delivery,
    Channel,
    Platform,
}

/// What went wrong, in words that no provider owns. Callers decide by the kind and the scope. SQL knows the same words
/// (`platform.error_kind`) and one more, `unknown`, for an error that names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// Too many calls: make none within the scope until `retry_after_ms` is over or, without one, for a backoff of your own.
    RateLimited,
    /// The token is missing, malformed or refused: keep the work until an operator has mended the token.
    Unauthorized,
    /// The token is good and may not do this here: an operator gives the bot its rights.
    Forbidden,
    /// What the call names does not exist: an operator corrects the name, or the work is dropped.
    NotFound,
    /// The provider still processes an upload: repeat the call in a few seconds.
    NotReady,
    /// The message is refused as it is: only a changed message can pass.
    Invalid,
    /// A file is larger than the provider takes or gives: only a smaller one can pass.
    TooLarge,
    /// The provider, the network or our own storage failed, and nothing was done: repeat the call later.
    Unavailable,
    /// No whole answer came to a call that changes nothing when it is repeated: repeat it later.
    Timeout,
    /// The call may have been carried out: repeating it may show the message twice.
    UnknownOutcome,
}

impl ErrorKind {
    pub const ALL: [Self; 10] = [
        Self::RateLimited,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::NotReady,
        Self::Invalid,
        Self::TooLarge,
        Self::Unavailable,
        Self::Timeout,
        Self::UnknownOutcome,
    ];
}

#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct AdapterError {
    pub category: Category,
    pub scope: ErrorScope,
    pub kind: ErrorKind,
    /// The provider's code, the HTTP status or a word of ours: for people to read, never to decide by.
    pub code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Redacted before it gets here.
    pub message: String,
    /// Redacted before it gets here.
    pub raw: Value,
}

impl AdapterError {
    pub fn new(
        category: Category,
        scope: ErrorScope,
        kind: ErrorKind,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { category, scope, kind, code: code.into(), retry_after_ms: None, message: message.into(), raw: Value::Null }
    }

    /// The token of a channel or a bot could not be read, so nothing was sent: an operator puts it where it should be. Whether the work waits for
    /// that is for the caller to say.
    pub fn credential_missing(category: Category, message: impl Into<String>) -> Self {
        Self::new(category, ErrorScope::Channel, ErrorKind::Unauthorized, "credential_missing", message)
    }

    /// The request left and no answer came: the provider may have done the work.
    pub fn outcome_unknown(&self) -> bool {
        self.kind == ErrorKind::UnknownOutcome
    }
}
