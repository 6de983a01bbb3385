//! Why there is nothing to read, in words that tell a stranger nothing about our network.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Whoever gave the address or the headers corrects them; the text says how.
    #[error("{0}")]
    Invalid(String),
    /// A rule of ours forbids the address. What it says inside is for our log only.
    #[error("{UNREACHABLE}")]
    Refused(String),
    /// The name is absent, the port is closed, or the conversation broke off. Told apart from a refusal by nobody
    /// outside: the difference would be a map of our network.
    #[error("{UNREACHABLE}")]
    Unreachable(String),
    #[error("the address did not answer in time")]
    Timeout,
    #[error("the answer is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("the address redirects more than {redirects_max} times")]
    Redirects { redirects_max: usize },
    /// An answer that is neither what was asked for nor "not modified".
    #[error("the address answered with status {status}")]
    Status { status: u16, retry_after: Option<Duration> },
}

const UNREACHABLE: &str = "the address cannot be reached: check its spelling, and that the internet can open it";

impl FetchError {
    /// Whether the same request may succeed later without anybody correcting anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Timeout => true,
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
            Self::Invalid(_) | Self::Refused(_) | Self::TooLarge { .. } | Self::Redirects { .. } => false,
        }
    }

    /// What really happened, for our own log. Carries no path and no query, which may hold secrets.
    pub fn reason(&self) -> String {
        match self {
            Self::Refused(reason) | Self::Unreachable(reason) => reason.clone(),
            other => other.to_string(),
        }
    }
}
