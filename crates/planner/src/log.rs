//! The request log: MCPRequestLog of the specification. A call is written before its work and its answer after it, each in a transaction of its
//! own, so that neither goes away with the work; a call that cannot be written is not made.
//!
//! Secrets and personal data are taken out first, and what is longer than anybody reads is cut.

use std::time::Instant;

use kernel::{WorkspaceId, redact};
use platform::{Db, DbError, outbox::retry_until_recorded, wake::Topic};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    calls::CallPlace,
    engine::Caller,
    store::{self, LoggedResponse},
};

/// What is longer is kept by its beginning: calls are not, within the limits, but the answer that tells a goal with a thousand long steps is.
const BODY_BYTES_MAX: usize = 2 << 20;
/// How much is kept of what is longer.
const BEGINNING_CHARS: usize = 4000;
const TOOL_CHARS_MAX: usize = 100;
const ERROR_CHARS_MAX: usize = 1000;

/// A call that was written down and has no answer yet. A process that dies now leaves it so.
#[derive(Debug)]
pub(crate) struct LoggedCall {
    db: Db,
    workspace: WorkspaceId,
    request_id: Uuid,
    started: Instant,
    /// Held until the answer is written, by whom that may take.
    place: CallPlace,
}

/// What became of a call, as it is stored.
struct CallOutcome {
    workspace: WorkspaceId,
    request_id: Uuid,
    body: Value,
    elapsed_ms: i32,
    error: Option<String>,
}

impl LoggedCall {
    /// Writes a call down, before anything is done about it.
    pub(crate) async fn open(
        db: &Db,
        caller: &Caller,
        place: CallPlace,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Self, DbError> {
        let started = Instant::now();
        let request_id = kernel::new_id();
        let body = bounded(json!({ "name": tool, "arguments": arguments }));
        let name = readable(redact::snippet(tool, TOOL_CHARS_MAX));
        let name = if name.is_empty() { "(no name)" } else { &name };
        let mut tx = db.begin(caller.workspace).await?;
        store::log_request(&mut *tx, caller, request_id, name, &body).await?;
        tx.commit().await?;
        db.wake().tell(Topic::BUS);
        Ok(Self { db: db.clone(), workspace: caller.workspace, request_id, started, place })
    }

    /// Writes its answer down. The work is done by now, so the caller does not wait for a database that is away.
    pub(crate) async fn close(self, body: Value, error: Option<&str>) {
        let outcome = CallOutcome {
            workspace: self.workspace,
            request_id: self.request_id,
            body: bounded(body),
            elapsed_ms: i32::try_from(self.started.elapsed().as_millis()).unwrap_or(i32::MAX),
            error: error.map(|error| readable(redact::snippet(error, ERROR_CHARS_MAX))),
        };
        let (db, place) = (self.db, self.place);
        if let Err(error) = write(&db, &outcome).await {
            tracing::warn!(%error, request.id = %outcome.request_id, "planner.log");
            tokio::spawn(async move {
                retry_until_recorded("an answer in the request log", || write(&db, &outcome)).await;
                drop(place);
            });
        }
    }
}

async fn write(db: &Db, outcome: &CallOutcome) -> Result<(), DbError> {
    let mut tx = db.begin(outcome.workspace).await?;
    let response =
        LoggedResponse { body: &outcome.body, execution_time_ms: outcome.elapsed_ms, error_message: outcome.error.as_deref() };
    store::log_response(&mut *tx, outcome.workspace, outcome.request_id, response).await?;
    tx.commit().await?;
    db.wake().tell(Topic::BUS);
    Ok(())
}

/// Redacted, in a form that jsonb can hold, and not longer than the limit.
fn bounded(mut body: Value) -> Value {
    redact::redact_json(&mut body);
    clean_keys_and_nul(&mut body);
    let text = body.to_string();
    if text.len() <= BODY_BYTES_MAX {
        return body;
    }
    json!({ "cut": true, "bytes": text.len(), "beginning": redact::snippet(&text, BEGINNING_CHARS) })
}

/// The one character that PostgreSQL cannot hold becomes the one that stands for what cannot be shown.
fn readable(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// Keys are the caller's words too, and nobody has looked into them yet.
fn clean_keys_and_nul(value: &mut Value) {
    // A list of what is left instead of recursion: the depth of a value is chosen by whoever sent it.
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) if text.contains('\0') => *text = readable(std::mem::take(text)),
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => {
                let clean = |key: &str| readable(redact::redact_text(key).into_owned());
                if fields.keys().any(|key| clean(key) != *key) {
                    *fields = std::mem::take(fields).into_iter().map(|(key, field)| (clean(&key), field)).collect();
                }
                rest.extend(fields.values_mut());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_people_are_taken_out_and_the_rest_stays() {
        let body = bounded(json!({
            "preview_id": "p", "idempotency_key": "k-1", "token": "brs_verysecretverysecretverysecret",
            "actions": [{ "params": { "title": "Call ann@example.org", "goal_id": 12 } }],
        }));
        assert_eq!(bounded(json!({ "ann@example.org": 1 })), json!({ "[email]": 1 }), "a key is a text too");
        assert_eq!(body["idempotency_key"], "k-1");
        assert_eq!(body["token"], "[redacted]");
        assert_eq!(body["actions"][0]["params"], json!({ "title": "Call [email]", "goal_id": 12 }));
    }

    #[test]
    fn a_body_beyond_the_limit_is_cut_and_says_so() {
        let body = bounded(json!({ "title": "ё".repeat(BODY_BYTES_MAX) }));
        assert_eq!(body["cut"], true);
        assert!(body["bytes"].as_u64().unwrap() > BODY_BYTES_MAX as u64);
        assert!(body["beginning"].as_str().unwrap().starts_with(r#"{"title":"ё"#));
        assert!(body.to_string().len() < 20_000);
    }

    #[test]
    fn what_postgresql_cannot_hold_is_replaced_in_texts_and_in_keys() {
        let body = bounded(json!({ "a\0": ["x\0y", { "b": "\0" }] }));
        assert_eq!(body, json!({ "a\u{fffd}": ["x\u{fffd}y", { "b": "\u{fffd}" }] }));
    }
}
