//! The normalized error of every adapter: whoever the provider is, a failure reads the same.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Category {
    /// The same call may succeed later.
    Transient,
    /// It never will.
    Permanent,
}

/// How much of the world the failure speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorScope {
    Delivery,
    Channel,
    Platform,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct AdapterError {
    pub category: Category,
    pub scope: ErrorScope,
    /// The provider's code, or the HTTP status.
    pub code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Redacted before it gets here.
    pub message: String,
    /// Redacted before it gets here.
    #[serde(default)]
    pub raw: Value,
    /// The request left and no answer came: the provider may have done the work.
    #[serde(default)]
    pub outcome_unknown: bool,
}
