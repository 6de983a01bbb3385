//! The answer format of every HTTP API whose specification names no other:
//! `ok / status_code / data / error / meta`, as the knowledge specification fixes it.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{Kind, Problem, TraceId, WorkspaceId};

#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Envelope<T> {
    pub ok: bool,
    pub status_code: u16,
    pub data: Option<T>,
    pub error: Option<ErrorBody>,
    pub meta: EnvelopeMeta,
}

#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ErrorBody {
    pub kind: Kind,
    /// Words that a person can act on.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// `code` (stable, for programs) and what else helps, such as `field`.
    #[schema(value_type = Object)]
    pub details: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
#[schema(as = Meta)]
pub struct EnvelopeMeta {
    /// Which part of the system answered.
    pub source: String,
    #[schema(value_type = String, format = DateTime)]
    pub ts: Timestamp,
    pub correlation: Correlation,
}

/// What ties this answer to its input. `tenant_id` is the workspace, under the name the knowledge contracts use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Correlation {
    pub correlation_id: Uuid,
    pub trace_id: Option<TraceId>,
    pub tenant_id: Option<WorkspaceId>,
    pub chat_id: Option<i64>,
    pub message_id: Option<i64>,
    pub workflow: Option<String>,
    pub node: Option<String>,
}

impl<T> Envelope<T> {
    pub fn success(status_code: u16, data: T, meta: EnvelopeMeta) -> Self {
        Self { ok: true, status_code, data: Some(data), error: None, meta }
    }

    pub fn failure(problem: Problem, meta: EnvelopeMeta) -> Self {
        let mut details = problem.details;
        details.insert("code".to_owned(), problem.code.into());
        if let Some(after) = problem.retry_after {
            let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            details.insert("retry_after_ms".to_owned(), after_ms.into());
        }
        let error = ErrorBody { kind: problem.kind, message: problem.message, retryable: problem.retryable, details };
        Self { ok: false, status_code: problem.status, data: None, error: Some(error), meta }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn meta() -> EnvelopeMeta {
        EnvelopeMeta { source: "test".into(), ts: Timestamp::UNIX_EPOCH, correlation: Correlation::default() }
    }

    #[test]
    fn a_success_and_a_failure_carry_the_same_keys() {
        let success = serde_json::to_value(Envelope::success(202, "x", meta())).unwrap();
        let failure = Envelope::<()>::failure(Problem::database_unavailable().retry_after(Duration::from_millis(1500)), meta());
        let failure = serde_json::to_value(failure).unwrap();
        let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&success), keys(&failure));
        assert_eq!(success["error"], Value::Null);
        assert_eq!(failure["error"]["kind"], "db");
        assert_eq!(failure["error"]["retryable"], true);
        assert_eq!(failure["error"]["details"]["code"], "database.unavailable");
        assert_eq!(failure["error"]["details"]["retry_after_ms"], 1500);
        assert_eq!(failure["data"], Value::Null);
    }
}
