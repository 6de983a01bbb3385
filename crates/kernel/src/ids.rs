//! Typed identifiers. New ones are UUIDv7, so that rows sort by creation and indexes grow at one end.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Problem;

/// A new time-ordered identifier.
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// The tenant: whose data a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = Uuid)]
pub struct WorkspaceId(Uuid);

impl WorkspaceId {
    /// Owns what belongs to no team: recurring upkeep such as retention. No token can name it.
    pub const SYSTEM: Self = Self(Uuid::nil());

    pub fn new() -> Self {
        Self(new_id())
    }

    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl Default for WorkspaceId {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Uuid> for WorkspaceId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

impl fmt::Display for WorkspaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for WorkspaceId {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        Uuid::parse_str(text)
            .map(Self)
            .map_err(|_| Problem::validation("workspace_id", "a workspace id is a UUID, such as 018f3c1e-…"))
    }
}

/// Follows one input through everything it causes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct TraceId(String);

impl TraceId {
    /// Longer ids from outside are refused rather than stored.
    pub const CHARS_MAX: usize = 128;

    pub fn new() -> Self {
        Self(new_id().simple().to_string())
    }

    /// A trace id given from outside: kept only if it is short and plain, since it goes into every log line.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        (!text.is_empty() && text.len() <= Self::CHARS_MAX && text.chars().all(plain)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TraceId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ids_sort_by_creation() {
        let ids: Vec<Uuid> = (0..100).map(|_| new_id()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids[0].get_version_num(), 7);
    }

    #[test]
    fn a_trace_id_from_outside_cannot_forge_a_log_line() {
        assert!(TraceId::parse("4bf92f3577b34da6a3ce929d0e0e4736").is_some());
        for bad in ["", "a b", "a\nlevel=error", "ж", &"x".repeat(129)] {
            assert!(TraceId::parse(bad).is_none(), "{bad:?}");
        }
    }
}
