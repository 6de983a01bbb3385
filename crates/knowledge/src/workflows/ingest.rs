//! WF10: takes an update: raw update, key and job in one transaction. Nothing heavy happens here.

use kernel::{Problem, WorkspaceId};
use platform::wake::Topic;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Request, number};
use crate::{
    Knowledge,
    store::{self, RawUpdate},
};

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let bot = request.text("bot_id")?.parse::<Uuid>();
    let bot = bot.map_err(|_| Problem::validation("bot_id", "`bot_id` is a UUID"))?;
    let serves: Option<String> =
        sqlx::query_scalar("select serves from core.bots where (workspace_id, bot_id, provider) = ($1, $2, 'telegram')")
            .bind(request.workspace.uuid())
            .bind(bot)
            .fetch_optional(knowledge.db.pool())
            .await
            .map_err(platform::DbError::from)?;
    if serves.as_deref() != Some("knowledge") {
        return Err(Problem::not_found("knowledge bot"));
    }
    let update = &request.req["update"];
    if !update.is_object() {
        return Err(Problem::validation("update", "`update` is an update of Telegram, an object"));
    }
    take(knowledge, request.workspace, bot, Ok(update), request.trace().unwrap_or_default()).await
}

/// Takes an update, or bytes that cannot be read and why.
pub(crate) async fn take(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    bot: Uuid,
    update: Result<&Value, (&[u8], &str)>,
    trace: &str,
) -> Result<Value, Problem> {
    let raw = match update {
        Ok(body) => RawUpdate {
            update_id: number(&body["update_id"]).flatten(),
            chat_id: chat_of(body),
            body: Some(body),
            unread: None,
            problem: None,
        },
        Err((bytes, problem)) => {
            RawUpdate { update_id: None, chat_id: None, body: None, unread: Some(bytes), problem: Some(problem) }
        }
    };
    let taken = store::take_update(&knowledge.db, workspace, bot, raw, trace).await?;
    if taken.is_new {
        knowledge.db.wake().tell(Topic::JOBS);
    }
    metrics::counter!("knowledge_updates_total", "outcome" => match (taken.job_id, taken.is_new) {
        (None, _) => "unreadable",
        (_, true) => "taken",
        _ => "repeated",
    })
    .increment(1);
    Ok(json!({ "job_id": taken.job_id, "is_new": taken.is_new }))
}

/// The chat of an update, whatever kind of update it is: raw updates expire by the policy of their chat.
fn chat_of(update: &Value) -> Option<i64> {
    update.as_object()?.values().find_map(|inner| {
        let direct = inner["chat"]["id"].as_i64();
        direct.or_else(|| inner["message"]["chat"]["id"].as_i64())
    })
}
