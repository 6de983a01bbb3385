//! Answers of the engine as results of tools, and the refusals that this layer makes itself.

use kernel::Problem;
use platform::DbError;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

use crate::engine::ToolAnswer;

/// A refusal as the engine writes them, for what never reaches it.
#[derive(Serialize)]
struct RefusalBody<'a> {
    success: bool,
    error: &'a str,
    hint: &'a str,
}

pub(super) fn refuse(error: &str, hint: &str) -> ToolAnswer {
    let body = serde_json::to_string(&RefusalBody { success: false, error, hint }).unwrap_or_default();
    ToolAnswer { body, is_error: true }
}

const CALL_AGAIN: &str = "Call again with the same arguments in a moment. For apply_actions keep the same idempotency_key: if the batch was \
    applied after all, its stored result comes back and nothing is done twice.";

/// The database did not answer, or somebody else had the turn for too long.
pub(super) fn failure(error: DbError) -> ToolAnswer {
    if error.is_lock_timeout() {
        return refuse("Another call that changes the same things is still under way", CALL_AGAIN);
    }
    trouble(&error.into())
}

/// The database did not answer, or answered something that it never should. Whether a commit came through may be unknown, so
/// the hint says what is safe.
pub(super) fn trouble(problem: &Problem) -> ToolAnswer {
    let hint = if problem.retryable {
        CALL_AGAIN
    } else {
        "The same call will fail again: correct its arguments, or tell the person who runs this server."
    };
    refuse(&problem.message, hint)
}

pub(super) const TOO_MANY: &str = "too many calls are under way; wait for some of them, and call again";

pub(super) fn too_many() -> ToolAnswer {
    refuse(TOO_MANY, "Nothing was done. Call again in a moment; for apply_actions the same idempotency_key will do.")
}

pub(super) fn cancelled() -> ToolAnswer {
    refuse(
        "The call was cancelled",
        "Nothing was changed. The preview can still be applied until it expires, with the same idempotency_key or another.",
    )
}

/// The same JSON twice: as text, byte for byte as the engine wrote it, and as structured content.
pub(super) fn into_result(answer: ToolAnswer) -> CallToolResult {
    let structured: Option<Value> = serde_json::from_str(&answer.body).ok();
    let content = vec![ContentBlock::text(answer.body)];
    let mut result = if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = structured;
    result
}

/// What a refusal says went wrong; nothing for a success.
pub(super) fn error_of(answer: &ToolAnswer) -> Option<String> {
    if !answer.is_error {
        return None;
    }
    let body: Value = serde_json::from_str(&answer.body).ok()?;
    body["error"].as_str().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_an_error_whose_text_and_structure_are_the_same() {
        let result = into_result(refuse("Goal not found", "List the goals first."));
        assert_eq!(result.is_error, Some(true));
        let text = &result.content[0].as_text().unwrap().text;
        assert_eq!(text, r#"{"success":false,"error":"Goal not found","hint":"List the goals first."}"#);
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result.structured_content.unwrap());
    }

    #[test]
    fn a_lost_database_is_said_to_be_safe_to_ask_again() {
        let answer = trouble(&DbError::Unavailable(sqlx::Error::PoolTimedOut).into());
        assert!(answer.is_error && answer.body.contains("same idempotency_key"), "{}", answer.body);
        assert!(error_of(&answer).unwrap().contains("database"));
    }
}
