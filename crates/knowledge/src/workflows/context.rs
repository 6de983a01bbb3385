//! WF00c: who asks, in which chat, and what the policy of the chat is.

use kernel::{Kind, Problem, TraceId, new_id};
use serde_json::{Value, json};

use super::Request;
use crate::{Knowledge, store};

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let user = request.number("tg_user_id")?;
    let channel @ ("group" | "dm") = request.text("channel")? else {
        return Err(Problem::validation("channel", "`channel` is `group` or `dm`"));
    };
    let chat = request.optional_number("chat_id")?;
    if channel == "group" && chat.is_none() {
        return Err(Problem::validation("chat_id", "`chat_id` must be there for a group"));
    }
    let mut found = store::load_context(&knowledge.db, request.workspace, user, chat, channel).await?;
    if let Some(status) = found["status"].as_u64() {
        let reason = found["reason"].as_str().unwrap_or_default().to_owned();
        return Err(match status {
            403 => Problem::new(403, Kind::Auth, "knowledge.not_allowed", reason),
            _ => Problem::new(404, Kind::NotFound, "knowledge.chat_not_registered", reason),
        });
    }
    let correlation = request.req["correlation_id"].as_str().map_or_else(|| new_id().to_string(), ToOwned::to_owned);
    let ctx = &mut found["ctx"];
    ctx["trace_id"] = json!(request.trace().and_then(TraceId::parse));
    ctx["correlation_id"] = json!(correlation);
    Ok(json!({ "ctx": ctx.take() }))
}
